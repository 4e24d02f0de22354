"""Charts of rows: of characters for a terminal, pictures for a notebook."""

from tvfsql.charts.picture import chart_picture as chart_picture
from tvfsql.charts.series import Chart as Chart
from tvfsql.charts.series import check_columns as check_columns
from tvfsql.charts.series import read_chart as read_chart
from tvfsql.charts.text import Size as Size
from tvfsql.charts.text import draw_chart as draw_chart

{# Sources whose meta has the options of a connector become tables, with their computed columns and watermarks. #}
{% macro tvfsql_declare_sources() %}
  {% if execute %}
    {% for source in graph.sources.values() %}
      {% set meta = source.meta or source.config.meta or {} %}
      {% if meta.get('with') %}
        {% do adapter.declare_source(source.schema, source.identifier, source.columns.values() | list, meta) %}
      {% endif %}
    {% endfor %}
  {% endif %}
{% endmacro %}

{# What runs SQL of a project begins with its sources: models in their materializations, the rest here. #}
{% macro tvfsql__get_test_sql(main_sql, fail_calc, warn_if, error_if, limit) -%}
  {% do tvfsql_declare_sources() %}
  {{ default__get_test_sql(main_sql, fail_calc, warn_if, error_if, limit) }}
{%- endmacro %}

{% macro tvfsql__get_limit_sql(sql, limit) -%}
  {% do tvfsql_declare_sources() %}
  {{ default__get_limit_sql(sql, limit) }}
{%- endmacro %}

{% macro tvfsql__collect_freshness(source, loaded_at_field, filter) %}
  {% do tvfsql_declare_sources() %}
  {{ return(default__collect_freshness(source, loaded_at_field, filter)) }}
{% endmacro %}

{% macro tvfsql__current_timestamp() -%} CURRENT_TIMESTAMP {%- endmacro %}

{% macro tvfsql__validate_sql(sql) -%}
  {% call statement('validate_sql') -%} EXPLAIN {{ sql }} {%- endcall %}
  {{ return(load_result('validate_sql')) }}
{% endmacro %}

{% macro tvfsql_comment() -%}
  {{ return(model.description if config.persist_relation_docs() and model.description else '') }}
{%- endmacro %}

{# Compares the columns of a model with its contract, if it has one. #}
{% macro tvfsql_check_contract(sql) %}
  {% if config.get('contract').enforced %}
    {% do get_assert_columns_equivalent(sql) %}
  {% endif %}
{% endmacro %}

{% macro tvfsql__get_create_table_as_sql(temporary, relation, sql) -%}
  {{ exceptions.raise_compiler_error("tvfsql creates tables by adapter.create_table_from") }}
{%- endmacro %}

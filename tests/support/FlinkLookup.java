import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.ConfigOptions;
import org.apache.flink.table.connector.source.DynamicTableSource;
import org.apache.flink.table.connector.source.LookupTableSource;
import org.apache.flink.table.connector.source.lookup.LookupFunctionProvider;
import org.apache.flink.table.data.GenericRowData;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.data.StringData;
import org.apache.flink.table.factories.DynamicTableSourceFactory;
import org.apache.flink.table.functions.LookupFunction;

/**
 * Flink's connector 'texts', for it has none of its own that is looked up without a server: a table of STRING columns
 * that is looked up by the first one. The option 'rows' has its rows, as in 'a,first;b,second'.
 */
public class FlinkLookup implements DynamicTableSourceFactory {
    private static final ConfigOption<String> ROWS = ConfigOptions.key("rows").stringType().noDefaultValue();

    public String factoryIdentifier() {
        return "texts";
    }

    public Set<ConfigOption<?>> requiredOptions() {
        return Set.of(ROWS);
    }

    public Set<ConfigOption<?>> optionalOptions() {
        return Set.of();
    }

    public DynamicTableSource createDynamicTableSource(Context context) {
        return new Table(context.getCatalogTable().getOptions().get(ROWS.key()));
    }

    static class Table implements LookupTableSource {
        final String rows;

        Table(String rows) {
            this.rows = rows;
        }

        public LookupRuntimeProvider getLookupRuntimeProvider(LookupContext context) {
            return LookupFunctionProvider.of(new Lookup(rows));
        }

        public DynamicTableSource copy() {
            return new Table(rows);
        }

        public String asSummaryString() {
            return "texts";
        }
    }

    public static class Lookup extends LookupFunction {
        private final String rows;

        Lookup(String rows) {
            this.rows = rows;
        }

        public Collection<RowData> lookup(RowData key) {
            List<RowData> found = new ArrayList<>();
            for (String row : rows.split(";")) {
                String[] values = row.split(",");
                if (!key.isNullAt(0) && values[0].equals(key.getString(0).toString())) {
                    GenericRowData made = new GenericRowData(values.length);
                    for (int i = 0; i < values.length; i++) {
                        made.setField(i, StringData.fromString(values[i]));
                    }
                    found.add(made);
                }
            }
            return found;
        }
    }
}

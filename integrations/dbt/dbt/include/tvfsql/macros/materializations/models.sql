{% macro tvfsql_drop_if(relation, condition) %}
  {% if relation is not none and condition %}
    {% do adapter.drop_relation(relation) %}
  {% endif %}
{% endmacro %}

{% materialization view, adapter='tvfsql' %}
  {% set existing = load_cached_relation(this) %}
  {% set target = this.incorporate(type='view') %}
  {{ run_hooks(pre_hooks) }}
  {% do tvfsql_declare_sources() %}
  {% do tvfsql_check_contract(sql) %}
  {% do tvfsql_drop_if(existing, existing is not none and not existing.is_view) %}
  {% set message = adapter.create_view_from(target, sql, tvfsql_comment()) %}
  {% call noop_statement('main', message, 'OK') %}{{ sql }}{% endcall %}
  {{ run_hooks(post_hooks) }}
  {{ return({'relations': [target]}) }}
{% endmaterialization %}

{% materialization table, adapter='tvfsql' %}
  {% if (config.get('options') or {}).get('connector') %}
    {{ exceptions.raise_compiler_error(
      "a table of dbt replaces its rows, but rows are only added to a connector: materialized='incremental' or 'streaming_table'"
    ) }}
  {% endif %}
  {% set existing = load_cached_relation(this) %}
  {% set target = this.incorporate(type='table') %}
  {{ run_hooks(pre_hooks) }}
  {% do tvfsql_declare_sources() %}
  {% do tvfsql_check_contract(sql) %}
  {% do tvfsql_drop_if(existing, existing is not none and existing.is_view) %}
  {% set message = adapter.create_table_from(
    target, sql, config.get('options'), config.get('partition_by'), tvfsql_comment()
  ) %}
  {% call noop_statement('main', message, 'OK') %}{{ sql }}{% endcall %}
  {{ run_hooks(post_hooks) }}
  {{ return({'relations': [target]}) }}
{% endmaterialization %}

{# Adds rows; nothing else, as tvfsql has no MERGE. #}
{% materialization incremental, adapter='tvfsql' %}
  {% set existing = load_cached_relation(this) %}
  {% set target = this.incorporate(type='table') %}
  {% do adapter.get_incremental_strategy_macro(context, config.get('incremental_strategy') or 'append') %}
  {% if config.get('unique_key') or (config.get('incremental_strategy') or 'append') != 'append' %}
    {{ exceptions.raise_compiler_error("tvfsql adds rows only: incremental_strategy='append' without unique_key") }}
  {% endif %}
  {{ run_hooks(pre_hooks) }}
  {% do tvfsql_declare_sources() %}
  {% do tvfsql_check_contract(sql) %}
  {% if existing is none or existing.is_view or should_full_refresh() %}
    {% do tvfsql_drop_if(existing, existing is not none and existing.is_view) %}
    {% set message = adapter.create_table_from(
      target, sql, config.get('options'), config.get('partition_by'), tvfsql_comment()
    ) %}
  {% else %}
    {% set message = adapter.append_from(target, sql) %}
  {% endif %}
  {% call noop_statement('main', message, 'OK') %}{{ sql }}{% endcall %}
  {{ run_hooks(post_hooks) }}
  {{ return({'relations': [target]}) }}
{% endmaterialization %}

{# An INSERT as a stream: each run goes on from the checkpoint of the one before. #}
{% materialization streaming_table, adapter='tvfsql', supported_languages=['sql'] %}
  {% set existing = load_cached_relation(this) %}
  {% set target = this.incorporate(type='table') %}
  {{ run_hooks(pre_hooks) }}
  {% do tvfsql_declare_sources() %}
  {% do tvfsql_drop_if(existing, existing is not none and (existing.is_view or should_full_refresh())) %}
  {% set message = adapter.stream_into(
    target, sql, config.get('options'), config.get('partition_by'), tvfsql_comment(), config.get('run_seconds')
  ) %}
  {% call noop_statement('main', message, 'OK') %}{{ sql }}{% endcall %}
  {{ run_hooks(post_hooks) }}
  {{ return({'relations': [target]}) }}
{% endmaterialization %}

{% materialization seed, adapter='tvfsql' %}
  {% set existing = load_cached_relation(this) %}
  {% set target = this.incorporate(type='table') %}
  {% if existing is not none and existing.is_view %}
    {{ exceptions.raise_compiler_error("Cannot seed to '{}', it is a view".format(existing.render())) }}
  {% endif %}
  {% set agate_table = load_agate_table() %}
  {% do store_result('agate_table', response='OK', agate_table=agate_table) %}
  {{ run_hooks(pre_hooks) }}
  {% set rows = adapter.load_seed(target, agate_table, model['config'].get('column_types')) %}
  {% call noop_statement('main', 'INSERT ' ~ rows, 'INSERT', rows) %}{% endcall %}
  {{ run_hooks(post_hooks) }}
  {{ return({'relations': [target]}) }}
{% endmaterialization %}

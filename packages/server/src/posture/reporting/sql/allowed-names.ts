/*
 * Which functions, types and operators reporting queries may name. What is not here is refused. Nothing
 * belongs here that runs SQL, reads the catalogues, the session or files, waits, locks, writes, draws
 * rows or texts of any length from nothing, or tells of the server.
 */

const words = (text: string): ReadonlySet<string> => new Set(text.trim().split(/\s+/))

/** All of `pg_catalog`. `lpad` and `rpad` are bounded where they are called. */
export const FUNCTIONS = words(`
  abs ceil ceiling floor mod power round sign sqrt trunc
  array_agg avg bool_and bool_or count cume_dist dense_rank every first_value lag last_value lead max
  min mode nth_value ntile percent_rank percentile_cont percentile_disc rank row_number stddev
  stddev_pop stddev_samp string_agg sum var_pop var_samp variance
  array_length array_position array_to_string cardinality string_to_array
  btrim char_length concat concat_ws initcap left length like_escape lower lpad ltrim overlay position
  regexp_count regexp_instr regexp_like regexp_match regexp_replace regexp_split_to_array
  regexp_substr replace reverse right rpad rtrim similar_to_escape split_part starts_with strpos substr
  substring translate upper
  age date_bin date_part date_trunc extract make_date make_interval now timezone to_char to_date
  to_number to_timestamp
  json_agg json_array_length json_build_array json_build_object json_extract_path
  json_extract_path_text json_object_agg json_typeof jsonb_agg jsonb_array_length jsonb_build_array
  jsonb_build_object jsonb_extract_path jsonb_extract_path_text jsonb_object_agg jsonb_path_exists
  jsonb_path_query_first jsonb_typeof row_to_json to_json to_jsonb
  broadcast family host masklen netmask network`)

export const TYPES = words(`
  text varchar bpchar int2 int4 int8 float4 float8 numeric bool date timestamp timestamptz time interval
  json jsonb inet cidr uuid`)

/** The names of `BETWEEN` are how the grammar writes it. */
export const OPERATORS = new Set([
  ...words(`
    + - * / % ^ = <> != < > <= >= || ~ ~* !~ !~* ~~ ~~* !~~ !~~*
    -> ->> #> #>> @> <@ ? ?| ?& && << >> <<= >>=`),
  'BETWEEN',
  'NOT BETWEEN',
  'BETWEEN SYMMETRIC',
  'NOT BETWEEN SYMMETRIC',
])

/** How operators are applied. */
export const OPERATOR_KINDS = words(`
  AEXPR_OP AEXPR_OP_ANY AEXPR_OP_ALL AEXPR_DISTINCT AEXPR_NOT_DISTINCT AEXPR_NULLIF AEXPR_IN AEXPR_LIKE
  AEXPR_ILIKE AEXPR_SIMILAR AEXPR_BETWEEN AEXPR_NOT_BETWEEN AEXPR_BETWEEN_SYM AEXPR_NOT_BETWEEN_SYM`)

/** Where a sub-select may stand. */
export const SUBLINK_KINDS = words(
  'EXISTS_SUBLINK ANY_SUBLINK ALL_SUBLINK EXPR_SUBLINK ARRAY_SUBLINK',
)

/** Values such as `current_date`; the others tell the role and the database. */
export const SESSION_FREE_VALUES = words(`
  SVFOP_CURRENT_DATE SVFOP_CURRENT_TIME SVFOP_CURRENT_TIME_N SVFOP_CURRENT_TIMESTAMP
  SVFOP_CURRENT_TIMESTAMP_N SVFOP_LOCALTIME SVFOP_LOCALTIME_N SVFOP_LOCALTIMESTAMP
  SVFOP_LOCALTIMESTAMP_N`)

"""The types of arguments that Flink 2.3 takes (tests/data/flink_argument_types.json): for each function, written with
the number of its arguments, the families of types of each argument. "": that depends on the other arguments.

tests/bind/test_argument_types.py compares it with the answers.
"""

TAKEN = {
    call: kinds
    for kinds, calls in (
        (
            ("s",),
            (
                "CHAR_LENGTH/1 CHARACTER_LENGTH/1 UPPER/1 LOWER/1 BTRIM/1 LTRIM/1 RTRIM/1 INITCAP/1 ASCII/1 "
                "URL_ENCODE/1 URL_DECODE/1 PRINTF/1 REVERSE/1 STR_TO_MAP/1 INET_ATON/1 UNHEX/1 UNIX_TIMESTAMP/1 "
                "TO_DATE/1 TO_TIMESTAMP/1 JSON_QUOTE/1 JSON_UNQUOTE/1 PARSE_JSON/1 TRY_PARSE_JSON/1"
            ),
        ),
        (
            ("s", "s"),
            (
                "BTRIM/2 LTRIM/2 RTRIM/2 REGEXP/2 REGEXP_COUNT/2 REGEXP_EXTRACT/2 REGEXP_EXTRACT_ALL/2 "
                "REGEXP_INSTR/2 REGEXP_SUBSTR/2 ENCODE/2 INSTR/2 LOCATE/2 PARSE_URL/2 SPLIT/2 STARTSWITH/2 "
                "ENDSWITH/2 UNIX_TIMESTAMP/2 TO_DATE/2 TO_TIMESTAMP/2"
            ),
        ),
        (("s", "i l"), ("REPEAT/2 LEFT/2 RIGHT/2")),
        (("s", "s", "i l"), ("REGEXP_EXTRACT/3 REGEXP_EXTRACT_ALL/3 LOCATE/3")),
        (
            ("s", "s", "s"),
            (
                "REGEXP_REPLACE/3 TRANSLATE/3 TRANSLATE3/3 PARSE_URL/3 REPLACE/3 STR_TO_MAP/3 TO_TIMESTAMP_LTZ/3 "
                "CONVERT_TZ/3"
            ),
        ),
        (("s", "i l", "s"), ("LPAD/3 RPAD/3")),
        (("s bi",), ("FROM_BASE64/1 TO_BASE64/1 MD5/1 SHA1/1 SHA224/1 SHA256/1 SHA384/1 SHA512/1")),
        (("i l",), ("CHR/1 INET_NTOA/1 BIN/1 FROM_UNIXTIME/1")),
        (("bi", "s"), ("DECODE/2")),
        (("s", "s i l", "i l"), ("SPLIT_INDEX/3")),
        (("s i l d p",), ("IS_DIGIT/1 IS_ALPHA/1 IS_DECIMAL/1 TO_TIMESTAMP_LTZ/1")),
        (("s bi", "i l"), ("SHA2/2")),
        (
            ("i l d p",),
            (
                "SQRT/1 EXP/1 SIN/1 SINH/1 COS/1 COSH/1 TAN/1 TANH/1 COT/1 ASIN/1 ACOS/1 ATAN/1 DEGREES/1 "
                "RADIANS/1 LN/1 LOG10/1 LOG2/1 LOG/1 CEIL/1 CEILING/1 FLOOR/1 TRUNCATE/1 SIGN/1"
            ),
        ),
        (("i l d p", "i l d p"), ("POWER/2 LOG/2")),
        (("i l d", "i l d"), ("ATAN2/2")),
        (("i",), ("RAND/1 RAND_INTEGER/1")),
        (("i", "i"), ("RAND_INTEGER/2")),
        (("s i l d p b dt tm ts",), ("HASH_CODE/1")),
        (("s i l",), ("HEX/1")),
        (("dt ts tz",), ("DAYOFYEAR/1 DAYOFMONTH/1 DAYOFWEEK/1 YEAR/1 QUARTER/1 MONTH/1 WEEK/1")),
        (("dt tm ts tz",), ("HOUR/1 MINUTE/1 SECOND/1")),
        (("s ts tz", "s"), ("DATE_FORMAT/2")),
        (("i l", "s"), ("FROM_UNIXTIME/2")),
        (("i l d p s", "i s"), ("TO_TIMESTAMP_LTZ/2")),
        (("a",), ("ELEMENT/1 ARRAY_CONCAT/1 ARRAY_DISTINCT/1 ARRAY_MAX/1 ARRAY_MIN/1 ARRAY_REVERSE/1 ARRAY_SORT/1")),
        (
            ("a", ""),
            (
                "ARRAY_APPEND/2 ARRAY_CONTAINS/2 ARRAY_EXCEPT/2 ARRAY_INTERSECT/2 ARRAY_POSITION/2 "
                "ARRAY_PREPEND/2 ARRAY_REMOVE/2 ARRAY_UNION/2"
            ),
        ),
        (("a", "b"), ("ARRAY_SORT/2")),
        (("a", "i"), ("ARRAY_SLICE/2")),
        (("a", "i", "i"), ("ARRAY_SLICE/3")),
        (("a", "b", "b"), ("ARRAY_SORT/3")),
        (("s i l d p b dt tm ts tz bi a m r",), ("TYPEOF/1")),
        (("s i l d p b ts tz bi a m r",), ("JSON_STRING/1")),
    )
    for call in calls.split()
}

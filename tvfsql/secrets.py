"""Secrets in options: texts with the values hidden of all options but those that are known to be harmless.

Nobody knows every option of every connector that holds a secret, so an unknown one may. A reference to the environment
(`${ENV:NAME}`) is not a secret.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

STARS = "******"
# '${ENV:NAME}' in an option's value is read from the environment when the program runs
OF_ENVIRONMENT = re.compile(r"\$\{ENV:([A-Za-z_][A-Za-z0-9_]*)\}")

# ------------------------------------------------------------------------------------------ which are harmless

# words for secrets, whatever else is known about an option
HOLDS = re.compile(
    r"passw|passphrase|pwd|user-info|secret|token|jaas|credential|private|assertion|authoriz"
    r"|(?:access|account|api|encryption|keystore|ssl)[._-]?key(?!store)|keystore\.(?:key|cert)",
    re.IGNORECASE,
)
# options of tables, of Spark's readers and writers, and of Spark, in lower case
HARMLESS = frozenset(
    # tables
    """
    connector format path topic topic-pattern table-name url driver username user dbtable query host port codec encoding
    hostname hosts index catalog-name catalog-type catalog-database database-name table-path warehouse
    property-version number-of-rows rows-per-second rowspersecond keep-alive max-emit-speed disorder start-time stop-at
    print-identifier standard-error auto-compaction compaction.file-size compaction.parallelism
    connection.max-retry-timeout endianness charset schema database
    key.format value.format key.fields key.fields-prefix value.fields-include connector.type format.type
    events.num rest.port rest.address rest.bind-port
    """.split()
    # Spark's files and streams of files
    + """
    sep delimiter quote escape comment nullvalue nanvalue emptyvalue mode dateformat timestampformat timestampntzformat
    ignoreleadingwhitespace ignoretrailingwhitespace locale maxcolumns maxcharspercolumn quoteall escapequotes
    allowcomments allowsinglequotes allowunquotedfieldnames ignorenullfields primitivesasstring prefersdecimal header
    multiline linesep enforceschema compression inferschema samplingratio timezone columnnameofcorruptrecord mergeschema
    recursivefilelookup pathglobfilter basepath modifiedbefore modifiedafter ignoremissingfiles ignorecorruptfiles
    maxfilespertrigger maxbytespertrigger maxfileage maxcachedfiles latestfirst filenameonly cleansource
    sourcearchivedir partitionoverwritemode checkpointlocation rampuptime numpartitions includetimestamp rowtag roottag
    readchangefeed startingversion endingversion startingtimestamp endingtimestamp datetimerebasemode int96rebasemode
    avroschema wholetext
    """.split()
    # Spark's databases and Kafka
    + """
    fetchsize batchsize isolationlevel truncate partitioncolumn lowerbound upperbound querytimeout pushdownpredicate
    sessioninitstatement subscribe subscribepattern assign startingoffsets endingoffsets startingoffsetsbytimestamp
    endingoffsetsbytimestamp startingoffsetsbytimestampstrategy failondataloss minpartitions maxoffsetspertrigger
    minoffsetspertrigger maxtriggerdelay includeheaders groupidprefix kafkaconsumer.polltimeoutms
    fetchoffset.numretries fetchoffset.retryintervalms
    """.split()
    # of Confluent's cloud
    + """
    kafka.cleanup-policy kafka.compaction.time kafka.consumer.isolation-level kafka.max-message-size
    kafka.message-timestamp-type kafka.producer.compression.type kafka.retention.size kafka.retention.time
    error-handling.log.target error-handling.mode auction.avg-size bid.avg-size person.avg-size rate.limited rate.period
    rate.shape first-event.rate nexmark.table
    """.split()
    # of Spark itself
    + """
    spark.master spark.remote spark.serializer spark.default.parallelism spark.local.dir spark.network.timeout
    spark.speculation spark.hadoop.fs.defaultfs spark.hadoop.fs.s3a.endpoint spark.hadoop.fs.s3a.endpoint.region
    spark.hadoop.fs.s3a.path.style.access spark.hadoop.fs.s3a.impl spark.hadoop.fs.s3a.connection.ssl.enabled
    spark.hadoop.fs.s3a.aws.credentials.provider spark.jars spark.jars.packages spark.jars.repositories spark.plugins
    restart-strategy
    """.split()
)
# what any option below is harmless: of formats, connectors and SET, and of Spark
KINDS = re.compile(
    r"(?:(?:key|value)\.)?(?:csv|json|raw|orc|parquet|avro|debezium-json|canal-json|maxwell-json|ogg-json|map-null-key"
    r"|protobuf)(?:\..*)?"
    r"|(?:(?:key|value)\.)?(?:debezium-)?avro-confluent\.(?:url|subject|schema|ssl\.truststore\.(?:location|type))"
    r"|(?:scan|sink|lookup|source|partition|fields|changelog|tvfsql|execution|pipeline|table|sql-client|state"
    r"|parallelism|restart-strategy|first-event|next-event|nexmark|auction|bid|person)\..*"
    r"|spark\.(?:app|cores|task|memory|shuffle|locality|scheduler|speculation|dynamicallocation|eventlog|ui|rpc|python"
    r"|pyspark|submit|cleaner|broadcast|storage|io|tvfsql)\..*"
    r"|spark\.(?:executor|driver)\.(?!.*options).*"
    r"|spark\.sql\.(?!catalog\.).*|spark\.sql\.catalog\.\w+(?:\.(?:type|warehouse|uri|catalog-impl|io-impl"
    r"|default-namespace))?"
    # settings of Kafka's clients
    r"|(?:properties|kafka)\.(?:bootstrap\.servers|group\.id|group\.instance\.id|client\.id|client\.rack|acks|retries"
    r"|security\.protocol|sasl\.mechanism|sasl\.kerberos\.service\.name|auto\.offset\.reset|isolation\.level"
    r"|compression\.type|batch\.size|linger\.ms|buffer\.memory|partition\.\w+|allow\.auto\.create\.topics"
    r"|(?:enable|max|min|fetch|send|receive|delivery|request|session|heartbeat|reconnect|retry|metadata|connections"
    r"|default|transaction|socket|check)\.[\w.]*"
    r"|ssl\.(?:(?:keystore|truststore)\.(?:location|type)|protocol|provider|enabled\.protocols|cipher\.suites"
    r"|endpoint\.identification\.algorithm))"
)
# parameters of URLs that are harmless, in lower case
PARAMETERS = frozenset(
    """
    user username uid user_id userid database databasename db schema currentschema ssl sslmode usessl encrypt
    trustservercertificate characterencoding useunicode servertimezone applicationname connecttimeout logintimeout
    sockettimeout rewritebatchedstatements rewritebatchedinserts stringtype targetservertype warehouse role httppath
    authmech transportmode account region port host instance instancename options preparethreshold readonly
    autoreconnect zerodatetimebehavior use_ssl session_id
    """.split()
)


def is_harmless(key: str) -> bool:
    """Whether the value of an option may be shown: it is known, and its name does not tell of a secret."""
    low = key.lower()
    return not HOLDS.search(key) and (low in HARMLESS or KINDS.fullmatch(low) is not None)


def is_secret(key: str, value: str) -> bool:
    """Whether an option's value must be hidden as a whole."""
    rest = OF_ENVIRONMENT.sub("", value)
    return bool(rest) and rest.lower() not in ("true", "false") and not is_harmless(key)


def shown(key: str, value: str) -> str:
    """An option's value with secrets hidden."""
    return STARS if is_secret(key, value) else without_passwords(value)


# ------------------------------------------------------------------------------------------ URLs

URL = re.compile(r"jdbc:|://")
LOGIN = re.compile(r"((?<=:)//[^/?#@:\s]*:|jdbc:oracle:\w+:[^/@\s]*/)([^?#\s]+)(?=@)")  # before the host
BARE = re.compile(r"((?<![\w.:/@{-])[\w.+-]+:)([^\s:/@,;'\"]+)(?=@[\w.-]+:\d)")  # user:password@host:port
PARAMETER = re.compile(r"([?&;])([^=?&;\s]+)=([^&;\s]+)")
NAMED = re.compile(
    r"((?:passw|passphrase|pwd|secret|token|sig)\w*\s*=>?\s*)('[^']*(?:''[^']+)*|\"[^\"]*|[^&;,\s'\")]+)", re.IGNORECASE
)


def without_passwords(url: str, hide: Callable[[str], str] = lambda secret: STARS) -> str:
    """An option's value with its passwords replaced by `hide`: those of logins, those that have a name, and in a URL
    the parameters that may be secret."""

    def parameter(found: re.Match[str]) -> str:
        before, name, value = found.groups()
        return found[0] if name.lower() in PARAMETERS else f"{before}{name}={_hidden(value, hide)}"

    if URL.search(url):
        url = PARAMETER.sub(parameter, _replaced(LOGIN, url, hide))
    return _replaced(NAMED, _replaced(BARE, url, hide), hide)


def without_logins(text: str, hide: Callable[[str], str] = lambda secret: STARS) -> str:
    """A text that is not an option's value, such as a message, without the passwords of logins and URLs in it."""
    for place in (LOGIN, NAMED) if URL.search(text) else ():
        text = _replaced(place, text, hide)
    return _replaced(BARE, text, hide)


def _replaced(place: re.Pattern[str], text: str, hide: Callable[[str], str]) -> str:
    def replaced(found: re.Match[str]) -> str:
        quote = found[2][:1] if found[2][:1] in "'\"" else ""
        return found[1] + quote + _hidden(found[2][len(quote) :], hide)

    return place.sub(replaced, text)


def _hidden(secret: str, hide: Callable[[str], str]) -> str:
    return hide(secret) if OF_ENVIRONMENT.sub("", secret) else secret


# ------------------------------------------------------------------------------------------ SQL

WORD = re.compile(
    r"(?P<blank>\s+|--[^\n]*|/\*(?!\+)(?:[^*]|\*(?!/))*(?:\*/)?|/\*\+|\*/)"
    r"""|(?P<string>'(?:''|[^'])*'?|"(?:""|[^"])*"?)|(?P<name>`(?:``|[^`])*`?|[\w$]+)|(?P<sign>.)""",
    re.DOTALL,
)


class _Word(NamedTuple):
    kind: str
    text: str
    start: int
    end: int


def stars(sql: str) -> str:
    """The SQL with each secret replaced by as many asterisks, so that positions stay right. The SQL may be wrong."""

    def as_many(secret: str) -> str:
        return "*" * len(secret)

    if not any(sign in sql for sign in "=:"):
        return sql
    found = (_Word(str(word.lastgroup), word[0], word.start(), word.end()) for word in WORD.finditer(sql))
    words = [word for word in found if word.kind != "blank"]
    hidden = dict[tuple[int, int], str]()
    for key, place in _options(sql, words):
        value = sql[slice(*place)]
        hidden[place] = as_many(value) if is_secret(key, value) else without_passwords(value, as_many)
    for place, told in _strings(words):
        value = sql[slice(*place)]
        hidden.setdefault(place, told(value, as_many))
    parts, end = list[str](), 0
    for (start, stop), text in sorted(hidden.items()):
        parts += [sql[end:start], text]
        end = stop
    return "".join([*parts, sql[end:]])


def _strings(words: list[_Word]) -> Iterator[tuple[tuple[int, int], Callable[[str, Callable[[str], str]], str]]]:
    """The place of each string of a text, without quotes, and what hides the secrets in it: of arguments of CALL those
    of an option's value, and an argument whose name tells of a secret as a whole."""
    calls = False
    for i, word in enumerate(words):
        calls = word.text.upper() == "CALL" if i == 0 or words[i - 1].text == ";" else calls
        if word.kind == "string":
            arrow = [each.text for each in words[max(0, i - 2) : i]] == ["=", ">"]
            named = arrow and i > 2 and HOLDS.search(words[i - 3].text)
            yield _inside(word), _hidden if named else without_passwords if calls else without_logins


def _options(sql: str, words: list[_Word]) -> Iterator[tuple[str, tuple[int, int]]]:
    """The key of each option in a text, and the place of its value, without quotes: those of SET, and those in
    parentheses. Those of the hint STATE_TTL are durations."""
    before, of = [_Word("sign", ";", 0, 0), *words], ""
    for i, word in enumerate(words):
        if word.text in ("(", ")"):
            of = before[i].text.upper() if word.text == "(" else ""
        if of == "STATE_TTL":
            continue
        if word.text.upper() == "SET" and before[i].text == ";" and i + 1 < len(words):
            yield from _set(sql, words[i + 1 :])
        elif word.kind == "string" and before[i].text in ("(", ",") and [w.text for w in words[i + 1 : i + 2]] == ["="]:
            rest = [each for each in words[i + 2 : i + 5] if each.text.upper() not in ("U", "&")]
            if rest and rest[0].kind == "string":
                yield _unquoted(word.text), _inside(rest[0])


def _set(sql: str, words: list[_Word]) -> Iterator[tuple[str, tuple[int, int]]]:
    """The option of SET key = value. Neither needs quotes; the value ends with the statement."""
    ends = next((i for i, word in enumerate(words) if word.text == ";"), len(words))
    equal = next((i for i, word in enumerate(words[:ends]) if word.text == "="), 0)
    if not equal:
        return
    key = "".join(_unquoted(word.text) if word.kind == "string" else word.text for word in words[:equal])
    value = words[equal + 1 : ends]
    if len(value) == 1 and value[0].kind == "string":
        yield key, _inside(value[0])
        return
    start, stop = (
        words[equal].end,
        words[ends].start if ends < len(words) else len(sql),
    )  # with what looks like comments
    inside = sql[start:stop]
    yield key, (start + len(inside) - len(inside.lstrip()), stop - len(inside) + len(inside.rstrip()))


def _inside(word: _Word) -> tuple[int, int]:
    """The place of a string without its quotes."""
    closed = len(word.text) > 1 and word.text[-1] == word.text[0]
    return word.start + 1, word.end - closed


def _unquoted(text: str) -> str:
    return text.strip(text[0]).replace(text[0] * 2, text[0])


# ------------------------------------------------------------------------------------------ programs

SETTERS = ("option", "config")  # methods that set one option
DICTS = ("options", "login")  # arguments that have several


def without(program: str) -> str:
    """The Python program with its secrets replaced by stars: the values of options, and passwords in URLs. Raises
    nothing: a text that is not Python is returned without the passwords in its URLs."""
    try:
        tree = ast.parse(program)
    except (SyntaxError, ValueError):
        return without_logins(program)
    hidden: dict[tuple[int, int], str] = {}
    places = _Places(program)
    values = {id(value): key for key, value in _set_in(tree)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            key = values.get(id(node))
            made = without_logins(node.value) if key is None else shown(key, node.value)
            if made != node.value:
                hidden[places.of(node)] = _literal(made)
    parts, end = list[bytes](), 0
    for (start, stop), text in sorted(hidden.items()):
        parts += [places.program[end:start], text.encode()]
        end = stop
    return b"".join([*parts, places.program[end:]]).decode("utf-8", "surrogatepass")


def _set_in(tree: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """The key and the value of each option that a program sets."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        if isinstance(node.func, ast.Attribute) and node.func.attr in SETTERS and len(node.args) == 2:
            yield from _pair(*node.args)
        for argument in node.keywords:
            if argument.arg == "url":
                yield "url", argument.value
            elif argument.arg in DICTS and isinstance(argument.value, ast.Dict):
                for key, value in zip(argument.value.keys, argument.value.values, strict=True):
                    yield from _pair(key, value)


def _pair(key: ast.expr | None, value: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    if isinstance(key, ast.Constant) and isinstance(key.value, str):
        yield key.value, value


def _literal(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


class _Places:
    """The places of the nodes of a program, in bytes of UTF-8."""

    def __init__(self, program: str) -> None:
        self.program = program.encode("utf-8", "surrogatepass")
        lines = self.program.splitlines(keepends=True)
        self.starts = [0]
        for line in lines:
            self.starts.append(self.starts[-1] + len(line))

    def of(self, node: ast.Constant) -> tuple[int, int]:
        assert node.end_lineno is not None and node.end_col_offset is not None
        start = self.starts[node.lineno - 1] + node.col_offset
        return start, self.starts[node.end_lineno - 1] + node.end_col_offset

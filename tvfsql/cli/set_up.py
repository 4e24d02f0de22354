"""Commands about the installation: doctor, the version, and completion, a script for bash, zsh or fish, made of the
command line's own arguments.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from tvfsql.cli.output import Exit
from tvfsql.cli.scripts import planning_session

SHELLS = ("bash", "zsh", "fish")


def script(parser: argparse.ArgumentParser, shell: str) -> str:
    """The script for one of SHELLS."""
    return {"bash": _bash, "zsh": _zsh, "fish": _fish}[shell](parser)


def commands(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    """The commands by name, in order."""
    found = next(action for action in parser._actions if isinstance(action, argparse._SubParsersAction))
    return dict(found.choices)


def _options(parser: argparse.ArgumentParser) -> Iterator[tuple[list[str], list[str], str]]:
    """(names, values that can be chosen, help) of each option."""
    for action in parser._actions:
        if action.option_strings and action.help != argparse.SUPPRESS:
            yield [*action.option_strings], [str(each) for each in action.choices or ()], action.help or ""


def _chosen(parser: argparse.ArgumentParser) -> list[str]:
    """What can stand at a place without an option, such as the shells of `completion`."""
    places = (action for action in parser._actions if not action.option_strings)
    own = (action for action in places if not isinstance(action, argparse._SubParsersAction))
    return [str(each) for action in own for each in action.choices or ()]


def _bash(parser: argparse.ArgumentParser) -> str:
    cases, values = [], []
    for name, command in [("", parser), *commands(parser).items()]:
        words = [word for names, _, _ in _options(command) for word in names] + _chosen(command)
        cases.append(f'    "{name}") words="{" ".join([*words, *(commands(parser) if not name else ())])}" ;;')
        for names, choices, _ in _options(command):
            values += [f'    "{name} {option}") words="{" ".join(choices)}" ;;' for option in names if choices]
    return f"""# bash completion of tvfsql: source <(tvfsql completion bash)
_tvfsql() {{
  local now="${{COMP_WORDS[COMP_CWORD]}}" before="${{COMP_WORDS[COMP_CWORD-1]}}" command="" words="" each
  for each in "${{COMP_WORDS[@]:1:COMP_CWORD-1}}"; do
    case " {" ".join(commands(parser))} " in *" $each "*) command="$each"; break ;; esac
  done
  case "$command $before" in
{chr(10).join(values)}
  esac
  if [ -z "$words" ]; then
    case "$command" in
{chr(10).join(cases)}
    esac
    case "$now" in -*) ;; *) [ -n "$command" ] && COMPREPLY=($(compgen -f -- "$now")) ;; esac
  fi
  COMPREPLY+=($(compgen -W "$words" -- "$now"))
}}
complete -o filenames -F _tvfsql tvfsql
"""


def _zsh(parser: argparse.ArgumentParser) -> str:
    head = "# zsh completion of tvfsql: source <(tvfsql completion zsh)\nautoload -U +X bashcompinit && bashcompinit\n"
    return head + _bash(parser).partition("\n")[2]


def _fish(parser: argparse.ArgumentParser) -> str:
    lines = ["# fish completion of tvfsql: tvfsql completion fish | source"]
    for name, command in commands(parser).items():
        lines.append(
            f"complete -c tvfsql -n __fish_use_subcommand -f -a {name} -d {_quoted(command.description or '')}"
        )
    for name, command in [("", parser), *commands(parser).items()]:
        when = f"'__fish_seen_subcommand_from {name}'" if name else "__fish_use_subcommand"
        if words := _chosen(command):
            lines.append(f"complete -c tvfsql -n {when} -f -a {_quoted(' '.join(words))}")
        for names, choices, about in _options(command):
            flags = " ".join(f"-l {each[2:]}" if each.startswith("--") else f"-s {each[1:]}" for each in names)
            takes = f" -x -a {_quoted(' '.join(choices))}" if choices else ""
            lines.append(f"complete -c tvfsql -n {when} {flags}{takes} -d {_quoted(about)}")
    return "\n".join(lines) + "\n"


def _quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


# Commands about the machine and the installation: doctor, completion, and `--version`.


def doctor(given: argparse.Namespace, parser: argparse.ArgumentParser) -> int:
    from tvfsql.runtime.cluster.asked import MASTER, REMOTE, is_local, requested
    from tvfsql.runtime.host.doctor import checks

    asked = requested(planning_session(given).options.spark)
    found = [*checks()]
    if REMOTE in asked or not is_local(asked.get(MASTER, "local")):
        from tvfsql.runtime.host.doctor import cluster_checks
        from tvfsql.runtime.local_spark.start import start_spark

        found += cluster_checks(start_spark(own=asked), given.checkpoint)
    width = max(len(check.name) for check in found)
    for check in found:
        print(f"{'ok  ' if check.ok else 'MISS'} {check.name:<{width}}  {check.found}")
        if check.hint and not check.ok:
            print(f"     {'':<{width}}  -> {check.hint}")
    return Exit.OK if all(check.ok for check in found) else Exit.ERROR


def completion(given: argparse.Namespace, parser: argparse.ArgumentParser) -> int:
    from tvfsql.cli.set_up import script

    print(script(parser, given.shell), end="")
    return Exit.OK


def versions() -> str:
    """Versions on one line. Only reads package metadata; does not import Spark."""
    from importlib import metadata

    def version(package: str) -> str:
        try:
            return f"{package} {metadata.version(package)}"
        except metadata.PackageNotFoundError:
            return f"{package} (not installed)"

    return f"{version('tvfsql')} ({version('pyspark')}, {version('sqlglot')})"

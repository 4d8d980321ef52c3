"""The command line: ``contextmgr replay``, ``scenario``, ``search``, ``import``, ``audit``, ``mcp``, ``eval recall``.

Commands import what they need when they run, so ``--help`` and ``--version`` answer at once.  Exit status: 0 when all
is well, 1 when a request was invalid, over budget or unproven or a conversation of a folder could not be replayed, 2
when what was given cannot be used.
"""

from __future__ import annotations

import io
import json
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, TextIO

import typer

from contextmgr.errors import ContextManagerError

DEFAULT_MODEL = "claude-sonnet-5-5"
_FILES_HELP = (
    "Recorded sessions or folders of them, plain or gzipped: Claude Code JSONL, Anthropic or OpenAI messages JSON, "
    "SWE-agent .traj, Codex, pi."
)

app = typer.Typer(
    name="contextmgr",
    help="Decides what a long-running Claude agent gets to see: pinned turns byte for byte, inside a budget.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)

evaluating = typer.Typer(help="Measure how well things are found.", no_args_is_help=True)
app.add_typer(evaluating, name="eval")


def main() -> None:
    """Run the command line."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal that knows no bars gets question marks, not an error
    app(prog_name="contextmgr")


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import PackageNotFoundError, version

        try:
            typer.echo(f"contextmgr {version('contextmgr')}")
        except PackageNotFoundError:
            typer.echo("contextmgr (not installed, run from its sources)")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and stop.")
    ] = False,
) -> None:
    """Options that stand before the command."""


@app.command()
def replay(
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help=_FILES_HELP)],
    profile: Annotated[
        str | None, typer.Option(metavar="P", help="A shipped profile or a TOML file; coding-agent if left out.")
    ] = None,
    budget: Annotated[
        int | None, typer.Option(metavar="N", help="Input budget in tokens; the profile is scaled to it.")
    ] = None,
    model: Annotated[str, typer.Option(metavar="M", help="Whose prices, window and tokenizer count.")] = DEFAULT_MODEL,
    pin: Annotated[
        str | None, typer.Option(metavar="TURN|first", help="Pin this user turn, or the first of a person.")
    ] = None,
    summarizer: Annotated[
        str | None, typer.Option(metavar="extractive", help="Summarise what leaves the view, with sentences said.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object per conversation and line.")] = False,
    dump: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Write every request as sent, one JSON file each.")
    ] = None,
) -> None:
    """Replay recorded sessions call by call: the requests we would have sent, checked and priced.

    Beside ours, two policies everyone knows: send everything, and slide a window on every call.
    """
    with _errors_in_one_line():
        from contextmgr.cli.replaying import Options, chosen_profile, pin_wish, run, summarizer_wish

        options = Options(
            files=tuple(files),
            profile=chosen_profile(profile, budget),
            model=model,
            pin=pin_wish(pin),
            summarizer=summarizer_wish(summarizer),
            as_json=as_json,
            dump=dump,
        )
        is_clean = run(options)
    raise typer.Exit(0 if is_clean else 1)


@app.command()
def scenario(
    name: Annotated[str, typer.Argument(metavar="NAME|FILE", help="A shipped scenario, or a file of one.")],
    as_json: Annotated[bool, typer.Option("--json", help="The outcome as JSON.")] = False,
) -> None:
    """Run a scenario under several ways to keep a context, and show which still have the rule."""
    with _errors_in_one_line():
        from contextmgr.scenario import run_scenario

        outcome = run_scenario(name)
        if as_json:
            typer.echo(json.dumps(outcome.to_json(), ensure_ascii=False))
        else:
            from contextmgr.cli.console import output

            output().print(outcome.table())
            failed = [f"not as expected: {c.what}: {', '.join(c.failures)}" for c in outcome.checks if not c.passed]
            for line in failed:
                output().print(line, markup=False)
    raise typer.Exit(0 if outcome.passed else 1)


@app.command()
def search(
    query: Annotated[str, typer.Argument(metavar="QUERY", help="What to look for; plain text, no operators.")],
    store: Annotated[str, typer.Option(metavar="FILE|URL", help="An existing store.")],
    tenant: Annotated[str, typer.Option(metavar="T", help="Whose conversations; there is no default.")],
    conversation: Annotated[
        str | None, typer.Option(metavar="ID", help="One conversation; all of the scope if left out.")
    ] = None,
    user: Annotated[str | None, typer.Option(metavar="U", help="The scope's user, where it has one.")] = None,
    project: Annotated[str | None, typer.Option(metavar="P", help="The scope's project, where it has one.")] = None,
    k: Annotated[int, typer.Option("-k", metavar="N", help="The most turns to show.")] = 8,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object per turn and line.")] = False,
) -> None:
    """Find the turns of stored conversations that answer a query, best first; exit status 1 where none does."""
    with _errors_in_one_line():
        from contextmgr.cli.searching import Where, run

        where = Where(store=store, tenant=tenant, user=user, project=project, conversation=conversation)
        found = run(query, where, k=k, as_json=as_json)
    raise typer.Exit(0 if found else 1)


@app.command("import")
def import_sessions(
    paths: Annotated[list[Path], typer.Argument(metavar="PATH...", help=f"{_FILES_HELP} E.g. ~/.claude/projects.")],
    store: Annotated[str, typer.Option(metavar="FILE|URL", help="The store; made where there is none.")],
    tenant: Annotated[str, typer.Option(metavar="T", help="Whose conversations they become; there is no default.")],
    user: Annotated[str | None, typer.Option(metavar="U", help="The user they become those of, if any.")] = None,
    project: Annotated[str | None, typer.Option(metavar="P", help="The project they become part of, if any.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object per session and line.")] = False,
) -> None:
    """Store recorded sessions as conversations, to be searched; again, it adds only what is new since.

    Sub-agents are left out.  A session whose past has changed is reported and left alone: exit status 1.
    """
    with _errors_in_one_line():
        from contextmgr.cli.importing import run
        from contextmgr.scope import Scope

        is_well = run(paths, store, Scope(tenant=tenant, user=user, project=project), as_json=as_json)
    raise typer.Exit(0 if is_well else 1)


@app.command()
def audit(
    store: Annotated[str, typer.Option(metavar="FILE|URL", help="An existing store.")],
    tenant: Annotated[str, typer.Option(metavar="T", help="Whose searches; there is no default.")],
    user: Annotated[str | None, typer.Option(metavar="U", help="The scope's user, where it has one.")] = None,
    project: Annotated[str | None, typer.Option(metavar="P", help="The scope's project, where it has one.")] = None,
    conversation: Annotated[
        str | None, typer.Option(metavar="ID", help="What was asked in one conversation; all of the scope if left out.")
    ] = None,
    last: Annotated[int, typer.Option(metavar="N", help="How many, the newest.")] = 50,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object per record and line.")] = False,
) -> None:
    """Show who searched and recalled what, and what came back, the newest at the end."""
    with _errors_in_one_line():
        from contextmgr.cli.auditing import run
        from contextmgr.scope import Scope

        run(store, Scope(tenant=tenant, user=user, project=project), conversation, last=last, as_json=as_json)


@app.command("mcp")
def serve_mcp(
    store: Annotated[str, typer.Option(metavar="FILE|URL", help="An existing store.")],
    tenant: Annotated[str, typer.Option(metavar="T", help="Whose conversations are served; there is no default.")],
    user: Annotated[str | None, typer.Option(metavar="U", help="The scope's user, where it has one.")] = None,
    project: Annotated[str | None, typer.Option(metavar="P", help="The scope's project, where it has one.")] = None,
    also_project: Annotated[
        list[str] | None, typer.Option(metavar="P", help="A further project of the tenant and user; may be repeated.")
    ] = None,
    conversation: Annotated[
        str | None, typer.Option(metavar="ID", help="The conversation that note and remember write to; none without.")
    ] = None,
    chat_url: Annotated[
        str | None, typer.Option(metavar="URL", help="Links to chats, with {chat_id} and {first} in it.")
    ] = None,
    http: Annotated[
        str | None, typer.Option(metavar="HOST:PORT", help="Serve over HTTP; a port alone is for this machine only.")
    ] = None,
    token_file: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Holds the bearer token; else CONTEXTMGR_MCP_TOKEN does.")
    ] = None,
    allow_host: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="A name by which HTTP clients call; may be repeated.")
    ] = None,
) -> None:
    """Serve the recall tools to an MCP client, over standard input and output or with --http over HTTP."""
    with _errors_in_one_line():
        from contextmgr.cli.serving import Serving, run
        from contextmgr.scope import Scope

        serving = Serving(
            store=store,
            scope=Scope(tenant=tenant, user=user, project=project),
            conversation=conversation,
            projects=tuple(also_project or ()),
            chat_url=chat_url,
            http=http,
            token_file=token_file,
            allow_hosts=tuple(allow_host or ()),
        )
        run(serving)


@evaluating.command()
def recall(
    gold: Annotated[
        Path, typer.Argument(metavar="GOLD.jsonl", help='Lines of {"query", "turns", "conversation"?, "category"?}.')
    ],
    store: Annotated[str | None, typer.Option(metavar="FILE|URL", help="An existing store.")] = None,
    tenant: Annotated[str | None, typer.Option(metavar="T", help="Whose conversations of the store.")] = None,
    user: Annotated[str | None, typer.Option(metavar="U", help="The scope's user, where it has one.")] = None,
    project: Annotated[str | None, typer.Option(metavar="P", help="The scope's project, where it has one.")] = None,
    conversation: Annotated[
        str | None, typer.Option(metavar="ID", help="The conversation of questions that name none.")
    ] = None,
    session: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="A recorded session instead of a store; its conversations are 0, 1, 2 ..."),
    ] = None,
    k: Annotated[int, typer.Option("-k", metavar="N", help="The most turns to look at per question.")] = 20,
    as_json: Annotated[bool, typer.Option("--json", help="The figures as one JSON object.")] = False,
) -> None:
    """Search every question of a gold file: recall@5/10/20, any hit, nDCG@10 and MRR with 95 % intervals."""
    with _errors_in_one_line():
        from contextmgr.cli.evaluating import Place, run

        place = Place(
            store=store, session=session, tenant=tenant, user=user, project=project, conversation=conversation
        )
        run(gold, place, k=k, as_json=as_json)


@contextmanager
def _errors_in_one_line() -> Iterator[None]:
    """Errors raised on purpose, and files that cannot be written, end the program without a traceback."""
    with warnings.catch_warnings():
        _say_each_kind_once()
        try:
            yield
        except BrokenPipeError:
            raise  # whoever read the output has seen enough; typer ends the program quietly
        except (ContextManagerError, OSError) as error:
            typer.echo(f"contextmgr: {type(error).__name__}: {' '.join(str(error).split())}", err=True)
            raise typer.Exit(2) from error


def _say_each_kind_once() -> None:
    """Warnings as one line each, the first of every kind: a long replay may repeat one for every conversation."""
    said: set[type[Warning]] = set()

    def show(
        message: Warning | str,
        category: type[Warning],
        filename: str,
        lineno: int,
        file: TextIO | None = None,
        line: str | None = None,
    ) -> None:
        if category not in said:
            said.add(category)
            typer.echo(f"contextmgr: warning: {message}", err=True)

    warnings.showwarning = show

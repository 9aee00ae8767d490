"""One Markdown report with the date and the machine's size."""

import datetime
import os
import platform

REQUEST_RATIO_MAX = 0.3
HAPROXY_RATIO_MAX = 1.35
# Allocations for one small request. This figure only goes down.
ALLOCATIONS_MAX = 19
ONE_CLIENT_RATIO_MAX = 1.25
BODY_RATIO_MAX = 0.6
# An intercepted request: of what mitmproxy and Squid's ssl-bump need.
MITMPROXY_RATIO_MAX = 0.1
BUMP_RATIO_MAX = 1
HELD_KIB_MAX = 24
FIRST_MS_MAX = 100
LAST_S_MAX = 5
ACCEPTED_MIN = 5000
RAW_RATIO_MIN = 0.4
START_S_MAX = 10
PAGE_MS_MAX = 20
WAITING_GIB_MAX = 1


def markdown(results, options):
    parts = [heading()]
    if "small" in results:
        parts.append(small_table(results["small"], options, options.clients))
    if "one" in results:
        parts.append(small_table(results["one"], options, 1))
    if "many" in results:
        parts.append(small_table(results["many"], options, 256))
    if "tls" in results:
        parts.append(small_table(results["tls"], options, options.clients, ", TLS between proxy and origin"))
    if results.get("intercepted"):
        parts.append(intercepted_table(results["intercepted"], options))
    if results.get("allocations"):
        parts.append(f"Allocations per request: {results['allocations']['per_request']:.1f}")
    if "bodies" in results:
        parts.append(bodies_table(results["bodies"]))
    if "held" in results:
        parts.append(held_table(results["held"]))
    if "durable" in results:
        parts.append(durable_table(results["durable"]))
    parts.append(targets(results))
    return "\n\n".join(part for part in parts if part)


def heading():
    with open("/proc/meminfo") as file:
        gibibytes = int(file.readline().split()[1]) / (1 << 20)
    date = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d")
    return (f"Measured {date} on {os.cpu_count()} cores, {gibibytes:.0f} GiB of memory, "
            f"Linux {platform.release().split('-')[0]}; origin, load and proxy share the machine.")


def ratio(figure, results, key, name="Squid"):
    other = results.get(name, {}).get(key)
    return f"{figure / other:.2f}" if other else "–"


def small_table(results, options, clients, what=""):
    lines = [
        f"91-byte answers, {clients} keep-alive client{'s' if clients > 1 else ''}, one worker or thread each{what} "
        f"(median of {options.rounds}):", "",
        "| | CPU µs per request | of HAProxy's | of Squid's | requests/s | p50 | p99 |",
        "| --- | --- | --- | --- | --- | --- | --- |"]
    for name, row in results.items():
        low, high = row["spread"]
        times = " | ".join(f"{row[key] / 1000:.2f} ms" if key in row else "–" for key in ("p50_us", "p99_us"))
        lines.append(
            f"| {name} | {row['cpu_us']:.1f} ({low:.1f}–{high:.1f}) | {ratio(row['cpu_us'], results, 'cpu_us', 'HAProxy')} | "
            f"{ratio(row['cpu_us'], results, 'cpu_us')} | {row['per_second']:,.0f} | {times} |")
    return "\n".join(lines)


def bodies_table(results):
    lines = ["Large bodies, one client:", "",
             "| | CPU s per GiB | of Squid's | peak memory |", "| --- | --- | --- | --- |"]
    for name, row in results.items():
        lines.append(f"| {name} | {row['cpu_s']:.2f} | {ratio(row['cpu_s'], results, 'cpu_s')} | "
                     f"{row['peak_mib']:.0f} MiB |")
    return "\n".join(lines)


def intercepted_table(results, options):
    lines = [
        f"91-byte answers over kept-alive TLS that the proxy intercepts, {options.clients} clients (median of {options.rounds}):", "",
        "| | CPU µs per request | of Squid's | of mitmproxy's | requests/s |", "| --- | --- | --- | --- | --- |"]
    for name, row in results.items():
        low, high = row["spread"]
        ratios = " | ".join(ratio(row["cpu_us"], results, "cpu_us", other) for other in ("Squid (ssl-bump)", "mitmproxy"))
        lines.append(f"| {name} | {row['cpu_us']:.1f} ({low:.1f}–{high:.1f}) | {ratios} | {row['per_second']:,.0f} |")
    return "\n".join(lines)


def held_table(row):
    return "\n".join([
        f"{row['clients']:,} clients held while the origin is away:", "",
        "| | |", "| --- | --- |",
        f"| memory per held client | {row['kib_per_client']:.1f} KiB |",
        f"| from the trigger to the first request at the origin | {row['first_ms']:.1f} ms |",
        f"| from the trigger to the last answer | {row['last_s']:.2f} s |",
        f"| most connections at the origin at once | {row['connections_max']} |"])


def durable_table(row):
    return "\n".join([
        "Tickets, 1 KiB bodies, 64 clients, each on disk before its 202:", "",
        "| | |", "| --- | --- |",
        f"| acceptances per second | {row['per_second']:,.0f} |",
        f"| of raw SQLite inserts in groups of 64 ({row['raw']:,.0f} per second) | {row['per_second'] / row['raw']:.2f} |",
        f"| p50, p99 | {row['p50_us'] / 1000:.2f} ms, {row['p99_us'] / 1000:.2f} ms |",
        f"| CPU per acceptance | {row['cpu_us']:.0f} µs |",
        f"| start with {row['waiting']:,} waiting | {row['start_s']:.1f} s |",
        f"| memory with them | {row['gib']:.2f} GiB |",
        f"| a page of the list | {row['page_ms']:.1f} ms |",
        f"| deliveries per second to one origin | {row['drain_per_second']:,.0f} |",
        f"| CPU per delivery | {row['drain_cpu_us']:.0f} µs |"])


def targets(results):
    rows = []

    def at_least(name, figure, limit, unit=""):
        rows.append(f"| {name} | {figure:,.2f}{unit} | at least {limit:,}{unit} | "
                    f"{'pass' if figure >= limit else '**missed**'} |")

    def row(name, figure, limit, unit):
        rows.append(f"| {name} | {figure:.2f}{unit} | at most {limit}{unit} | "
                    f"{'pass' if figure <= limit else '**missed**'} |")

    for part, key, limit, other, name in (
            ("small", "cpu_us", REQUEST_RATIO_MAX, "Squid", "CPU per request, of Squid's"),
            ("small", "cpu_us", HAPROXY_RATIO_MAX, "HAProxy", "CPU per request, of HAProxy's"),
            ("one", "p50_us", ONE_CLIENT_RATIO_MAX, "HAProxy", "p50 with one client, of HAProxy's"),
            ("tls", "cpu_us", HAPROXY_RATIO_MAX, "HAProxy", "CPU per request over TLS, of HAProxy's"),
            ("intercepted", "cpu_us", MITMPROXY_RATIO_MAX, "mitmproxy", "CPU per intercepted request, of mitmproxy's"),
            ("intercepted", "cpu_us", BUMP_RATIO_MAX, "Squid (ssl-bump)", "CPU per intercepted request, of Squid's"),
            ("bodies", "cpu_s", BODY_RATIO_MAX, "Squid", "CPU per GiB, of Squid's")):
        figures = results.get(part) or {}
        if "Layover" in figures and other in figures:
            row(name, figures["Layover"][key] / figures[other][key], limit, "")
    if results.get("allocations"):
        row("allocations per request", results["allocations"]["per_request"], ALLOCATIONS_MAX, "")
    if "held" in results:
        row("memory per held client", results["held"]["kib_per_client"], HELD_KIB_MAX, " KiB")
        row("first held request leaves", results["held"]["first_ms"], FIRST_MS_MAX, " ms")
        row("last held answer delivered", results["held"]["last_s"], LAST_S_MAX, " s")
    if "durable" in results:
        figures = results["durable"]
        at_least("durable acceptances per second", figures["per_second"], ACCEPTED_MIN)
        at_least("of raw group-committed inserts", figures["per_second"] / figures["raw"], RAW_RATIO_MIN)
        row("start with those that wait", figures["start_s"], START_S_MAX, " s")
        row("a page of the list", figures["page_ms"], PAGE_MS_MAX, " ms")
        row("memory with those that wait", figures["gib"], WAITING_GIB_MAX, " GiB")
    if not rows:
        return ""
    return "\n".join(["| target | measured | wanted | |", "| --- | --- | --- | --- |"] + rows)

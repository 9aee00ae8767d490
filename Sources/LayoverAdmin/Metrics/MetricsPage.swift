import LayoverCore
import LayoverEngine

/// Everything that `/metrics` shows.
struct MetricsPage {
    let status: EngineStatus
    /// Nil where no tickets are kept.
    let store: StoreStatus?
    let sources: AdminSources
    let process: ProcessUsage
    let upstream: StatusDocument.Upstream
    var format = PrometheusText.Format.prometheus

    var text: String {
        var page = PrometheusText(format)
        addProcess(to: &page)
        addTraffic(to: &page)
        addEntries(to: &page)
        addTickets(to: &page)
        addCache(to: &page)
        addIncidents(to: &page)
        addLimits(to: &page)
        addReachability(to: &page)
        return page.text
    }

    private func addProcess(to page: inout PrometheusText) {
        page.add(
            "build_info", .gauge, "Layover version.", by: "version", [(LayoverVersion.current, 1)])
        page.add("uptime_seconds", .gauge, "Seconds since the start.", status.uptime.inSeconds)
        page.add("draining", .gauge, "1 while the proxy is stopping.", sources.isDraining() ? 1 : 0)
        page.add(
            "log_lines_dropped_total", .counter, "Log lines dropped because they could not be written.", sources.droppedLogLineCount())
        page.add(
            "loop_lag_seconds", "By how much the event loops were late for a timer, measured once a second.", all { $0.loopLag })
        page.add(
            "worker_lag_seconds", "Time until the threads that send requests hear of a command, measured every ten seconds.",
            all { $0.workerLag })
        page.add("process_cpu_seconds_total", .counter, "User and system CPU time.", process.cpuSeconds)
        page.add(
            "process_resident_memory_bytes", .gauge, "Resident memory.",
            process.residentByteCount)
        page.add("process_open_fds", .gauge, "Open file descriptors.", process.openDescriptorCount)
        page.add("process_max_fds", .gauge, "Limit on open file descriptors.", process.descriptorCountMax)
    }

    /// The loops count apart; here they are one.
    private var users: [(String, Double)] {
        let counts = sources.metrics.flatMap(\.users).map { ($0.name, Double($0.requestCount.current)) }
        return Dictionary(counts, uniquingKeysWith: +).sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }

    private func total(_ counter: (LoopMetrics) -> Int) -> Int {
        sources.metrics.reduce(0) { $0 + counter($1) }
    }

    private func all(_ meter: (LoopMetrics) -> DelayMeter) -> Histogram {
        sources.metrics.reduce(into: Histogram(bounds: Histogram.delays)) { $0.add(meter($1).current) }
    }

    private func addTraffic(to page: inout PrometheusText) {
        page.add("requests_total", .counter, "Requests received from clients.", total { $0.requestCount.current })
        page.add(
            "refused_requests_total", .counter, "Requests refused by the proxy.", total { $0.refusedRequestCount.current })
        page.add(
            "unauthenticated_requests_total", .counter, "Requests refused because user name or password was missing or wrong.",
            total { $0.unauthenticatedRequestCount.current })
        page.add("user_requests_total", .counter, "Requests by user of the proxy.", by: "user", users)
        page.add("connections_total", .counter, "Client connections accepted.", total { $0.connectionCount.current })
        page.add(
            "open_connections", .gauge, "Open client connections.", total { $0.openConnectionCount.current })
        page.add(
            "upstream_connections", .gauge, "Open connections to servers, idle ones and those of tunnels included.", upstream.connections)
        page.add("upstream_streams", .gauge, "Requests under way on connections to servers.", upstream.streams)
        page.add("tunnels_total", .counter, "CONNECT tunnels opened.", total { $0.tunnelCount.current })
        page.add("open_tunnels", .gauge, "Open CONNECT tunnels.", total { $0.openTunnelCount.current })
        page.add(
            "frozen_tunnels", .gauge, "Open tunnels that a mode or a rehearsal keeps from passing bytes.",
            total { $0.frozenTunnelCount.current })
        if let interception = sources.interception() {
            page.add(
                "intercepted_connections_total", .counter, "TLS connections of clients that were intercepted.", interception.connections)
            page.add(
                "interception_rejections_total", .counter,
                "Intercepted connections that may have been ended because of the certificate.", interception.rejections)
            page.add(
                "interception_fallbacks_total", .counter, "Connections relayed as tunnels because of earlier rejections.",
                interception.fallbacks)
        }
        page.add("attempts_total", .counter, "Attempts to send a request.", total { $0.attemptCount.current })
        page.add(
            "failed_attempts_total", .counter, "Failed attempts.", total { $0.failedAttemptCount.current })
        page.add(
            "resumed_responses_total", .counter, "Times that a response that had broken off went on.",
            total { $0.resumedResponseCount.current })
        page.add(
            "own_responses_total", .counter, "Responses generated by Layover.", total { $0.ownResponseCount.current })
        page.add(
            "request_bytes_total", .counter, "Bytes received from clients.", total { $0.requestByteCount.current })
        page.add(
            "response_bytes_total", .counter, "Bytes sent to clients.", total { $0.responseByteCount.current })
        page.add(
            "answers_total", .counter, "Responses by status class.", by: "class",
            (0..<5).map { index in ("\(index + 1)xx", Double(total { $0.responseCounts[index] })) })
    }

    private func addEntries(to page: inout PrometheusText) {
        let counts = StateCounts.document(status.counts)
        page.add(
            "entries", .gauge, "Pending requests by state.", by: "state",
            StateCounts.liveNames.map { ($0, Double(counts[$0] ?? 0)) })
        page.add("unattended_attempts", .gauge, "Attempts that go on after their clients have disconnected.", status.unattendedCount)
        page.add("held_clients", .gauge, "Clients waiting on an open connection.", status.heldCount)
        page.add("entries_parked_total", .counter, "Requests parked.", status.totals.parkedCount)
        page.add("replays_total", .counter, "Attempts to send a parked request.", status.totals.replayCount)
        page.add(
            "parking_refused_total", .counter, "Requests not parked because of a limit.", by: "limit",
            status.totals.refusedCounts.sorted { $0.key < $1.key }.map { ($0.key, Double($0.value)) })
        page.add(
            "retries_refused_total", .counter, "Responses with a retried status that were delivered, by the rule.", by: "rule",
            Self.refusals.map { ($0.rawValue, Double(status.totals.deliveredCounts[$0] ?? 0)) })
        page.add(
            "commands_total", .counter, "Commands of people and programs, one for each request.", by: "command",
            EntryCommand.allCases.map { ($0.rawValue, Double(status.totals.commandCounts[$0] ?? 0)) })
        page.add(
            "oldest_undecided_seconds", .gauge, "Longest time that a request has waited for a decision; 0 if none does.",
            status.oldestUndecidedAge?.inSeconds ?? 0)
        page.add(
            "entry_seconds", "Time from parking to the end, by final state.", by: "state",
            EntryState.allCases.filter(\.isFinal).map { ($0.rawValue, status.totals.lives[$0] ?? Histogram()) })
        page.add(
            "entries_ended_total", .counter, "Parked requests that ended, by final state.", by: "state",
            EntryState.allCases.filter(\.isFinal).map {
                ($0.rawValue, Double(status.totals.endedCounts[$0] ?? 0))
            })
    }

    /// The rules by which the set hands out a response that would be asked for again.
    private static let refusals: [Verdict.DeliverReason] = [.budget, .holdMax, .limit, .notRepeatable]

    private func addTickets(to page: inout PrometheusText) {
        guard let store else { return }
        page.add("tickets_accepted_total", .counter, "Tickets accepted.", store.acceptedCount)
        page.add(
            "tickets_unsaved", .gauge, "Tickets with changes not yet saved to disk.", store.unsavedCount)
        page.add(
            "store_failures_total", .counter, "Failed writes to the store.", store.failureCount)
        page.add("store_commit_seconds", "Time of a commit of the store, with the sync of the disk.", store.condition.commitTimes)
        page.add("store_bytes", .gauge, "Size of the database and its write-ahead log.", store.condition.byteCount)
        page.add(
            "store_condition", .gauge, "Store condition; 1 marks the current one.", by: "condition",
            (["ok"] + StoreFailure.Kind.allCases.map(\.rawValue)).map {
                ($0, $0 == store.conditionName ? 1 : 0)
            })
    }

    private func addCache(to page: inout PrometheusText) {
        guard let usage = sources.cache()?.usage else { return }
        page.add("cache_entries", .gauge, "Cached responses.", usage.entryCount)
        page.add("cache_bytes", .gauge, "Size of the cached responses.", usage.byteCount)
    }

    private func addIncidents(to page: inout PrometheusText) {
        page.add("incidents", .gauge, "Open incidents.", status.incidentCount)
        page.add("incidents_opened_total", .counter, "Incidents opened.", status.totals.incidentCount)
        guard let reload = status.lastReload else { return }
        page.add(
            "config_last_reload_successful", .gauge, "1 if the last configuration reload had no errors.",
            reload.errors.isEmpty ? 1 : 0)
    }

    private func addLimits(to page: inout PrometheusText) {
        let limits = LimitUse.all(status, sources: sources)
        page.add(
            "limit_max", .gauge, "Configured limits.", by: "limit",
            limits.map { ($0.name, Double($0.max)) })
        page.add(
            "limit_used", .gauge, "Current use of each limit.", by: "limit",
            limits.compactMap { limit in limit.used.map { (limit.name, Double($0)) } })
    }

    private func addReachability(to page: inout PrometheusText) {
        page.add("shut_gates", .gauge, "Origins known to be unreachable.", status.shutOrigins.count)
        page.add(
            "reachability", .gauge, "Network state; 1 marks the current one.", by: "state",
            ReachabilityState.allCases.map { ($0.rawValue, $0 == status.reachability.state ? 1 : 0) })
        page.add(
            "reachability_mode", .gauge, "Network mode; 1 marks the current one.", by: "mode",
            ReachabilityMode.allCases.map { ($0.rawValue, $0 == status.reachability.mode ? 1 : 0) })
    }
}

import LayoverCore
import LayoverEngine

/// Everything that `/metrics` shows.
struct MetricsPage {
    let status: EngineStatus
    /// Nil where no tickets are kept.
    let store: StoreStatus?
    let sources: AdminSources
    let process: ProcessUsage

    var text: String {
        var page = PrometheusText()
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
            "build_info", .gauge, "The version that runs.", by: "version", [(LayoverVersion.current, 1)])
        page.add("uptime_seconds", .gauge, "Time since the start.", status.uptime.inSeconds)
        page.add("draining", .gauge, "1 while the process is being stopped.", sources.isDraining() ? 1 : 0)
        page.add(
            "log_lines_dropped_total", .counter, "Log lines that could not be written.", sources.droppedLogLineCount())
        page.add("process_cpu_seconds_total", .counter, "User and system time.", process.cpuSeconds)
        page.add(
            "process_resident_memory_bytes", .gauge, "Memory that is not swapped out.",
            process.residentByteCount)
        page.add("process_open_fds", .gauge, "Open file descriptors.", process.openDescriptorCount)
        page.add("process_max_fds", .gauge, "Most open file descriptors.", process.descriptorCountMax)
    }

    /// The loops count apart; here they are one.
    private func total(_ counter: (LoopMetrics) -> Int) -> Int {
        sources.metrics.reduce(0) { $0 + counter($1) }
    }

    private func addTraffic(to page: inout PrometheusText) {
        page.add("requests_total", .counter, "Requests received.", total { $0.requestCount.current })
        page.add(
            "refused_requests_total", .counter, "Requests refused.", total { $0.refusedRequestCount.current })
        page.add("connections_total", .counter, "Connections accepted.", total { $0.connectionCount.current })
        page.add(
            "open_connections", .gauge, "Open client connections.", total { $0.openConnectionCount.current })
        page.add("tunnels_total", .counter, "Tunnels opened.", total { $0.tunnelCount.current })
        page.add("open_tunnels", .gauge, "Open tunnels.", total { $0.openTunnelCount.current })
        page.add("attempts_total", .counter, "Attempts made.", total { $0.attemptCount.current })
        page.add(
            "failed_attempts_total", .counter, "Attempts failed.", total { $0.failedAttemptCount.current })
        page.add(
            "own_responses_total", .counter, "Answers of our own.", total { $0.ownResponseCount.current })
        page.add(
            "request_bytes_total", .counter, "Bytes from clients.", total { $0.requestByteCount.current })
        page.add(
            "response_bytes_total", .counter, "Bytes to clients.", total { $0.responseByteCount.current })
        page.add(
            "answers_total", .counter, "Answers by class of status.", by: "class",
            (0..<5).map { index in ("\(index + 1)xx", Double(total { $0.answerCounts[index] })) })
    }

    private func addEntries(to page: inout PrometheusText) {
        let counts = StateCounts.document(status.counts)
        page.add(
            "entries", .gauge, "Entries of the pending set.", by: "state",
            StateCounts.liveNames.map { ($0, Double(counts[$0] ?? 0)) })
        page.add("held_clients", .gauge, "Clients that wait on their connection.", status.heldCount)
        page.add("entries_parked_total", .counter, "Entries parked.", status.totals.parkedCount)
        page.add("replays_total", .counter, "Attempts made from the pending set.", status.totals.replayCount)
        page.add(
            "parking_refused_total", .counter, "Requests that a limit kept out.", status.totals.refusedCount)
        page.add(
            "entries_ended_total", .counter, "Entries that came to their end.", by: "state",
            EntryState.allCases.filter(\.isFinal).map {
                ($0.rawValue, Double(status.totals.endedCounts[$0] ?? 0))
            })
    }

    private func addTickets(to page: inout PrometheusText) {
        guard let store else { return }
        page.add("tickets_accepted_total", .counter, "Tickets accepted.", store.acceptedCount)
        page.add(
            "tickets_unsaved", .gauge, "Tickets whose newest change the disk would not take.", store.unsavedCount)
        page.add(
            "store_failures_total", .counter, "Commits that the disk would not take.", store.failureCount)
        page.add("store_bytes", .gauge, "Size of the database and its log.", store.condition.byteCount)
        page.add(
            "store_condition", .gauge, "1 for how the store is.", by: "condition",
            (["ok"] + StoreFailure.Kind.allCases.map(\.rawValue)).map {
                ($0, $0 == store.conditionName ? 1 : 0)
            })
    }

    private func addCache(to page: inout PrometheusText) {
        guard let usage = sources.cache()?.usage else { return }
        page.add("cache_entries", .gauge, "Answers kept for reading offline.", usage.entryCount)
        page.add("cache_bytes", .gauge, "Size of these answers.", usage.byteCount)
    }

    private func addIncidents(to page: inout PrometheusText) {
        page.add("incidents", .gauge, "Incidents that are open.", status.incidentCount)
        page.add("incidents_total", .counter, "Incidents opened.", status.totals.incidentCount)
        guard let reload = status.lastReload else { return }
        page.add(
            "config_last_reload_successful", .gauge, "1 if the configuration was read anew without errors.",
            reload.errors.isEmpty ? 1 : 0)
    }

    private func addLimits(to page: inout PrometheusText) {
        let limits = LimitUse.all(status, sources: sources)
        page.add(
            "limit_max", .gauge, "Limits of the configuration.", by: "limit",
            limits.map { ($0.name, Double($0.max)) })
        page.add(
            "limit_used", .gauge, "How much of a limit is used.", by: "limit",
            limits.compactMap { limit in limit.used.map { (limit.name, Double($0)) } })
    }

    private func addReachability(to page: inout PrometheusText) {
        page.add("shut_gates", .gauge, "Origins known to be away.", status.shutOrigins.count)
        page.add(
            "reachability", .gauge, "1 for the state that counts.", by: "state",
            ReachabilityState.allCases.map { ($0.rawValue, $0 == status.reachability.state ? 1 : 0) })
        page.add(
            "reachability_mode", .gauge, "1 for the mode that is set.", by: "mode",
            ReachabilityMode.allCases.map { ($0.rawValue, $0 == status.reachability.mode ? 1 : 0) })
    }
}

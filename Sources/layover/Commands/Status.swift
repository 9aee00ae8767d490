import ArgumentParser
import Foundation
import LayoverAdmin

/// `layover status`
struct Status: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show proxy status.",
        discussion: "Example: layover status --json")

    @OptionGroup var connection: ConnectionOptions
    @Flag(help: "Print JSON.") var json = false

    func run() async throws {
        let response = try await connection.client().send(AdminCall("/v1/status"))
        let status = try response.decoded(StatusDocument.self)
        StandardOutput.write(json ? [response.text] : Self.lines(status, .standardOutput()))
    }

    static func lines(_ status: StatusDocument, _ terminal: Terminal) -> [String] {
        var facts = Facts()
        facts.add("version", status.version + (status.draining ? " (draining)" : ""))
        facts.add("up", TimeText.span(status.uptime))
        facts.add("proxy", status.proxy.joined(separator: " "))
        if let interception = status.interception {
            facts.add("intercepted", "\(interception.connections) connections")
            let hosts = interception.rejectingHosts.map(Terminal.safe)
            if !hosts.isEmpty { facts.add("", "clients reject the certificate for \(hosts.joined(separator: ", "))") }
        }
        facts.add("network", network(status.reachability), as: status.reachability.state, terminal)
        let order = ["waiting", "attempting", "held", "undecided"]
        facts.add(
            "pending",
            order.compactMap { name in status.counts[name].map { "\($0) \(name)" } }.joined(separator: ", "))
        facts.add("tunnels", tunnels(status.tunnels))
        facts.add("incidents", status.incidents == 0 ? "none" : "\(status.incidents) open")
        facts.add("rehearsals", status.rehearsals == 0 ? nil : "\(status.rehearsals) (layover rehearse --list)")
        facts.add("unreachable", status.shutOrigins.isEmpty ? nil : status.shutOrigins.joined(separator: " "))
        let used = status.limits.sorted { $0.key < $1.key }.compactMap { name, limit in
            limit.used.map { "\(name) \($0)/\(limit.max)" }
        }
        facts.add("limits", used.joined(separator: ", "))
        facts.add("store", status.store.map(store) ?? "none: tickets are not available")
        facts.add("cache", status.cache.map(CacheTable.text))
        for error in status.configurationErrors { facts.add("configuration", error) }
        if let reload = status.lastReload, !reload.needsRestart.isEmpty {
            facts.add("restart needed", reload.needsRestart.joined(separator: " "))
        }
        facts.add("reload", status.lastReload?.entriesLeft.map(Reload.left))
        return facts.lines
    }

    /// Nil where nobody uses any.
    private static func tunnels(_ tunnels: StatusDocument.Tunnels) -> String? {
        guard tunnels.open > 0 else { return nil }
        return "\(tunnels.open) open" + (tunnels.frozen > 0 ? ", \(tunnels.frozen) frozen" : "")
    }

    private static func store(_ store: StatusDocument.Store) -> String {
        var parts = [store.condition, "\(store.bytes) bytes"]
        if store.unsaved > 0 { parts.append("\(store.unsaved) tickets not saved yet") }
        if let history = store.history { parts.append("finished tickets kept for \(TimeText.span(history))") }
        if let message = store.message { parts.append(message) }
        return parts.joined(separator: ", ")
    }

    private static func network(_ view: ReachabilityDocument) -> String {
        var text = view.state
        if view.mode != "auto" {
            text += " (mode \(view.mode), set by an admin\(view.reason.map { ": \($0)" } ?? ""))"
        }
        return view.detail.map { "\(text). \($0)" } ?? text
    }
}

/// `layover healthcheck`: for containers. Exit code 0 if the process lives, otherwise 2.
struct Healthcheck: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Check that the proxy is running.",
        discussion: "Example: layover healthcheck || systemctl restart layover")

    @OptionGroup var connection: ConnectionOptions

    func run() async throws {
        let response = try await connection.client().response(to: AdminCall("/livez"))
        guard response.status == 200 else {
            throw CommandFailure(code: .unreachable, message: "not healthy: the response was \(response.status); layover status tells why")
        }
        StandardOutput.write("healthy")
    }
}

/// `layover fleet`: the instances that share tickets.
struct Fleet: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "List the instances that share tickets.",
        discussion: """
            An instance that shares them with nobody shows itself.

            Example: layover fleet
            """)

    @OptionGroup var connection: ConnectionOptions
    @Flag(help: "Print one JSON object per line.") var json = false

    func run() async throws {
        let response = try await connection.client().send(AdminCall("/v1/fleet"))
        let instances = try response.decoded(ListDocument<FleetDocument>.self).data
        let table = FleetTable(instances: instances)
        StandardOutput.write(json ? try instances.map { try Terminal.json($0) } : table.lines(.standardOutput()))
    }
}

/// Instances as a table.
struct FleetTable {
    let instances: [FleetDocument]

    func lines(_ terminal: Terminal) -> [String] {
        var table = Table([
            .init(title: "ID"), .init(title: "NAME", isFlexible: true), .init(title: "VERSION"), .init(title: "STATE"),
            .init(title: "PARTITIONS", isRight: true), .init(title: "LEASE", isRight: true), .init(title: "LAG", isRight: true),
            .init(title: "CLIENTS", isRight: true),
        ])
        let idCount = EntryTable.idCount(of: instances.map(\.id))
        for instance in instances {
            table.add([
                String(instance.id.prefix(idCount)), instance.name, instance.version, instance.state,
                instance.partitions.isEmpty ? "-" : String(instance.partitions.count),
                instance.leaseAge.map { "\(Int($0))s" } ?? "-", "\(Int(instance.lag))s", String(instance.heldClients),
            ])
        }
        return table.lines(width: terminal.width)
    }
}

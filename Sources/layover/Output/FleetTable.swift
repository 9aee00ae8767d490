import LayoverAdmin

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

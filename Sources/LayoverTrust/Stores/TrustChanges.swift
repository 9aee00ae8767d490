package import LayoverTLS

/// Puts one authority into trust stores, and takes it out again.
///
/// Doing either twice changes nothing more. What somebody else put there stays there.
package struct TrustChanges {
    package struct Outcome: Sendable, Equatable {
        package var kind: TrustStoreKind
        package var place: String
        package var result: Result
    }

    package enum Result: Sendable, Hashable {
        case changed
        /// It was so before.
        case unchanged
        /// `dryRun`: these lines would do it.
        case planned([String])
        /// A person has to make the change. The values are the reason and the lines to run.
        case byHand(String, [String])
        /// It was there before `ca trust`, so it stays.
        case kept
        case failed(String)
    }

    private let certificate: Certificate
    /// The file of the certificate, for lines that people run.
    private let file: String
    private let folder: String
    private let stores: [any TrustStore]

    /// - Parameter folder: That of the authority.
    package init(of certificate: Certificate, file: String, folder: String, stores: [any TrustStore]) {
        (self.certificate, self.file, self.folder, self.stores) = (certificate, file, folder, stores)
    }

    /// Every store of this machine and this user.
    package static func allStores(environment: [String: String]) -> [any TrustStore] {
        var stores: [any TrustStore] = []
        if let system = SystemTrustStore(environment: environment) { stores.append(system) }
        stores += NSSPlaces.databases(environment: environment)
        stores += JavaTrustStore.all(environment: environment)
        return stores
    }

    package func presence() -> [(store: any TrustStore, presence: TrustPresence)] {
        stores.map { ($0, $0.presence(of: certificate)) }
    }

    // MARK: Trust

    /// - Returns: What became of each store, and a warning if the record of it cannot be written.
    package func trust(dryRun: Bool) -> (outcomes: [Outcome], warning: String?) {
        var record = TrustRecord.read(in: folder)
        var known = record.authorities[certificate.fingerprint] ?? TrustRecord.Authority()
        // The system's store is copied into others. What was there before can only be seen before it changes.
        let before = presence()
        var isSystemByHand = false
        var outcomes: [Outcome] = []
        for (store, state) in before {
            let place = TrustRecord.Place(kind: store.kind.rawValue, place: store.place)
            let result = dryRun ? planned(store, state) : trust(store, state, isSystemByHand: isSystemByHand)
            if case .trusted = state, !known.changed.contains(place) { known.foreign.insert(place) }
            switch result {
            case .changed:
                known.changed.insert(place)
                known.foreign.remove(place)
            case .byHand(_, let lines):
                if !lines.isEmpty { known.changed.insert(place) }
                if store.kind == .system { isSystemByHand = true }
            case .unchanged, .planned, .kept, .failed: break
            }
            outcomes.append(Outcome(kind: store.kind, place: store.place, result: result))
        }
        guard !dryRun else { return (outcomes, nil) }
        known.certificate = certificate.pem
        record.authorities[certificate.fingerprint] = known
        return (outcomes, record.write(in: folder))
    }

    private func planned(_ store: any TrustStore, _ state: TrustPresence) -> Result {
        switch state {
        case .trusted: .unchanged
        case .absent: .planned(store.linesToAdd(certificate, file: file))
        case .unknown(let reason): .failed(reason)
        }
    }

    private func trust(_ store: any TrustStore, _ state: TrustPresence, isSystemByHand: Bool) -> Result {
        switch state {
        case .trusted: return .unchanged
        case .unknown(let reason): return .failed(reason)
        case .absent: break
        }
        if store.followsSystem {
            if isSystemByHand { return .byHand("it is made of the system's store", []) }
            if store.presence(of: certificate) == .trusted { return .changed }
        }
        do throws(TrustObstacle) {
            try store.add(certificate)
        } catch {
            return result(of: error, lines: store.linesToAdd(certificate, file: file))
        }
        return store.presence(of: certificate) == .trusted ? .changed : .failed("the certificate was added, and is not trusted")
    }

    // MARK: Untrust

    /// Authorities that are in stores by `ca trust` and were replaced since, in a fixed order.
    package static func replaced(by current: Certificate?, in folder: String) -> [Certificate] {
        TrustRecord.read(in: folder).authorities.sorted { $0.key < $1.key }.compactMap { fingerprint, known in
            guard fingerprint != current?.fingerprint, !known.changed.isEmpty, let text = known.certificate else { return nil }
            return PEM.certificates(in: Array(text.utf8)).first.flatMap { Certificate(der: $0) }
        }
    }

    package func untrust(dryRun: Bool) -> (outcomes: [Outcome], warning: String?) {
        var record = TrustRecord.read(in: folder)
        var known = record.authorities[certificate.fingerprint] ?? TrustRecord.Authority()
        var outcomes: [Outcome] = []
        for store in stores {
            let place = TrustRecord.Place(kind: store.kind.rawValue, place: store.place)
            let result = untrust(store, isForeign: known.foreign.contains(place), dryRun: dryRun)
            if result == .changed || result == .unchanged { known.changed.remove(place) }
            outcomes.append(Outcome(kind: store.kind, place: store.place, result: result))
        }
        guard !dryRun else { return (outcomes, nil) }
        let isEmpty = known.changed.isEmpty && known.foreign.isEmpty
        record.authorities[certificate.fingerprint] = isEmpty ? nil : known
        return (outcomes, record.write(in: folder))
    }

    private func untrust(_ store: any TrustStore, isForeign: Bool, dryRun: Bool) -> Result {
        switch store.presence(of: certificate) {
        case .absent: return .unchanged
        case .unknown(let reason): return .failed(reason)
        case .trusted: break
        }
        if isForeign { return .kept }
        let lines = store.linesToRemove(certificate)
        if dryRun { return .planned(lines) }
        do throws(TrustObstacle) {
            try store.remove(certificate)
        } catch {
            return result(of: error, lines: lines)
        }
        return store.presence(of: certificate) == .absent ? .changed : .failed("the certificate was removed, and is still trusted")
    }

    private func result(of obstacle: TrustObstacle, lines: [String]) -> Result {
        switch obstacle {
        case .needsRoot: .byHand("only root may change it", lines)
        case .missing(let program, let package):
            .byHand("\(program) is missing", ["sudo apt-get install --yes \(package)"] + lines)
        case .failed(let reason): .failed(reason)
        }
    }
}

/// What people do where Layover cannot: other systems, other machines.
package enum TrustInstructions {
    /// - Parameter file: The certificate, as it is called on this machine.
    package static func lines(file: String) -> [String] {
        let file = ShellWord.quoted(file)
        return [
            "Debian, Ubuntu     sudo install -D -m 0644 \(file) \(SystemTrustStore.folder)/layover.crt && sudo update-ca-certificates",
            "Fedora, RHEL       sudo install -m 0644 \(file) /etc/pki/ca-trust/source/anchors/layover.pem && sudo update-ca-trust",
            "Arch               sudo trust anchor --store \(file)",
            "macOS              sudo security add-trusted-cert -d -r trustRoot -k /Library/Keychains/System.keychain layover.pem",
            "Windows            certutil -user -addstore Root layover.pem",
            "Firefox            Settings, Privacy & Security, View Certificates, Authorities, Import",
            "",
            "On another machine: layover ca export -o layover.pem, and copy that file. Never copy ca.key.",
        ]
    }
}

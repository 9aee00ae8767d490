import ArgumentParser
import Foundation
import LayoverConfiguration
import LayoverTLS
import LayoverTrust

extension TrustStoreKind: ExpressibleByArgument {}

/// Which trust stores a command means.
struct TrustStoreOptions: ParsableArguments {
    @Option(help: "Only this kind of store; may be given several times. Default: all of them.") var store: [TrustStoreKind] = []

    func stores(environment: [String: String]) throws(CommandFailure) -> [any TrustStore] {
        let all = TrustChanges.allStores(environment: environment)
        let chosen = store.isEmpty ? all : all.filter { store.contains($0.kind) }
        guard !chosen.isEmpty else {
            throw CommandFailure(
                code: .refused, message: "there is no such trust store here; layover ca trust --instructions tells of others")
        }
        return chosen
    }
}

/// `layover ca trust`
struct TrustAuthority: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "trust", abstract: "Have the system, Chromium, Firefox and Java trust the authority.",
        discussion: """
            The store of Debian and Ubuntu (as root; otherwise the command for it is printed), the NSS databases of Chromium and of \
            Firefox profiles of this user, and the trust stores of Java. Without an authority, one is made. A second time changes nothing. \
            Browsers that are running see it when they start the next time.

            Example: layover ca trust
            """)

    @OptionGroup var source: ConfigurationOptions
    @OptionGroup var selection: TrustStoreOptions
    @Flag(name: .customLong("dry-run"), help: "Only show what would be done.") var dryRun = false
    @Flag(help: "Only print what to do by hand, on this and on other systems.") var instructions = false

    func run() throws {
        let environment = ProcessInfo.processInfo.environment
        let files = AuthorityFiles(try source.load().settings)
        if instructions { return StandardOutput.write(TrustInstructions.lines(file: files.certificateFile)) }
        let stores = try selection.stores(environment: environment)
        let certificate = dryRun ? try files.require() : try files.findOrMake().certificate
        let changes = TrustChanges(of: certificate, file: files.certificateFile, folder: files.folder, stores: stores)
        let (outcomes, warning) = changes.trust(dryRun: dryRun)
        if let warning { StandardError.warning(warning) }
        let report = TrustReport(outcomes: outcomes, direction: .trust)
        StandardOutput.write(report.lines)
        let isDebian = stores.contains { $0.kind == .system }
        if !isDebian, selection.store.isEmpty {
            let lines = TrustInstructions.lines(file: files.certificateFile)
            StandardOutput.write(["", "The store of this system is for you to change:"] + lines)
        }
        if report.isRefused(chosen: !selection.store.isEmpty) { throw ExitCode(CommandFailure.Code.refused.rawValue) }
    }
}

/// `layover ca untrust`
struct UntrustAuthority: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "untrust", abstract: "Take back what `layover ca trust` did.",
        discussion: """
            Removes this very certificate from every trust store that `layover ca trust` put it into, and no other; and likewise those of \
            authorities that were there before it. The authority itself stays.

            Example: layover ca untrust --store nss
            """)

    @OptionGroup var source: ConfigurationOptions
    @OptionGroup var selection: TrustStoreOptions
    @Flag(name: .customLong("dry-run"), help: "Only show what would be done.") var dryRun = false

    func run() throws {
        let files = AuthorityFiles(try source.load().settings)
        let current = try files.find()
        let replaced = TrustChanges.replaced(by: current, in: files.folder)
        if replaced.isEmpty { _ = try files.require() }
        let stores = try selection.stores(environment: ProcessInfo.processInfo.environment)
        var outcomes: [TrustChanges.Outcome] = []
        for certificate in [current].compactMap(\.self) + replaced {
            let changes = TrustChanges(of: certificate, file: files.certificateFile, folder: files.folder, stores: stores)
            let (ofThis, warning) = changes.untrust(dryRun: dryRun)
            if let warning { StandardError.warning(warning) }
            outcomes += certificate == current ? ofThis : ofThis.filter { $0.result != .unchanged }.map { outcome in
                var outcome = outcome
                outcome.place += " (an earlier authority, \(certificate.fingerprint.prefix(16)))"
                return outcome
            }
        }
        let report = TrustReport(outcomes: outcomes, direction: .untrust)
        StandardOutput.write(report.lines)
        if report.isRefused(chosen: !selection.store.isEmpty) { throw ExitCode(CommandFailure.Code.refused.rawValue) }
    }
}

/// What became of each trust store, a line each, and what is left to do.
struct TrustReport {
    enum Direction {
        case trust, untrust
    }

    var outcomes: [TrustChanges.Outcome]
    var direction: Direction

    /// Whether the command ends with exit code 3: a store failed, or a store that was chosen has to be changed by hand. If no store was
    /// chosen: all stores have to be changed by hand.
    func isRefused(chosen: Bool) -> Bool {
        let isLeft = outcomes.map { outcome in
            if case .byHand = outcome.result { true } else { false }
        }
        if outcomes.contains(where: { if case .failed = $0.result { true } else { false } }) { return true }
        return chosen ? isLeft.contains(true) : !isLeft.contains(false)
    }

    var lines: [String] {
        var facts = Facts()
        var toDo: [String] = []
        for outcome in outcomes {
            facts.add("\(outcome.kind.rawValue) \(outcome.place)", text(outcome.result))
            switch outcome.result {
            case .byHand(_, let lines), .planned(let lines): toDo += lines.filter { !toDo.contains($0) }
            case .changed, .unchanged, .kept, .failed: break
            }
        }
        let isPlan = outcomes.contains { if case .planned = $0.result { true } else { false } }
        let title = isPlan ? "This would be done:" : "This is left to do:"
        return facts.lines + (toDo.isEmpty ? [] : ["", title] + toDo.map { "  \(Terminal.safe($0))" })
    }

    private func text(_ result: TrustChanges.Result) -> String {
        switch (result, direction) {
        case (.changed, .trust): "trusted now"
        case (.changed, .untrust): "removed"
        case (.unchanged, .trust): "trusted already"
        case (.unchanged, .untrust): "was not there"
        case (.planned, .trust): "would be trusted"
        case (.planned, .untrust): "would be removed"
        case (.kept, _): "was there before layover ca trust; stays"
        case (.byHand(let reason, _), _): "not changed: \(reason)"
        case (.failed(let reason), _): "failed: \(reason)"
        }
    }
}

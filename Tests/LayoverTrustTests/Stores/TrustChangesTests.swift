import LayoverTLS
import LayoverTestSupport
import Synchronization
import Testing

@testable import LayoverTrust

struct TrustChangesTests {
    /// A store in memory.
    private final class RecordingTrustStore: TrustStore {
        let kind: TrustStoreKind
        let place: String
        let followsSystem: Bool
        private let obstacle: TrustObstacle?
        private let state: Mutex<TrustPresence>

        init(
            _ kind: TrustStoreKind, _ place: String = "/store", _ state: TrustPresence = .absent, obstacle: TrustObstacle? = nil,
            followsSystem: Bool = false
        ) {
            (self.kind, self.place, self.obstacle, self.followsSystem) = (kind, place, obstacle, followsSystem)
            self.state = Mutex(state)
        }

        func set(_ presence: TrustPresence) { state.withLock { $0 = presence } }

        func presence(of certificate: Certificate) -> TrustPresence { state.withLock(\.self) }

        func add(_ certificate: Certificate) throws(TrustObstacle) {
            if let obstacle { throw obstacle }
            set(.trusted)
        }

        func remove(_ certificate: Certificate) throws(TrustObstacle) {
            if let obstacle { throw obstacle }
            set(.absent)
        }

        func linesToAdd(_ certificate: Certificate, file: String) -> [String] { ["add \(file)"] }
        func linesToRemove(_ certificate: Certificate) -> [String] { ["remove"] }
    }

    private let folder: TemporaryFolder
    private let certificate: Certificate

    init() async throws {
        folder = try TemporaryFolder()
        certificate = try await .fixture()
    }

    private func changes(_ stores: [any TrustStore]) -> TrustChanges {
        TrustChanges(of: certificate, file: "/ca.pem", folder: folder.url.path, stores: stores)
    }

    private func results(_ report: (outcomes: [TrustChanges.Outcome], warning: String?)) -> [TrustChanges.Result] {
        #expect(report.warning == nil)
        return report.outcomes.map(\.result)
    }

    @Test func trustIsRevokedOnce() {
        let changes = changes([RecordingTrustStore(.nss)])
        #expect(results(changes.trust(dryRun: false)) == [.changed])
        #expect(results(changes.trust(dryRun: false)) == [.unchanged])
        #expect(results(changes.untrust(dryRun: false)) == [.changed])
        #expect(results(changes.untrust(dryRun: false)) == [.unchanged])
        #expect(TrustRecord.read(in: folder.url.path) == TrustRecord())
    }

    @Test func authorityThatWasReplacedIsKnownUntilItIsTakenBack() async throws {
        let store = RecordingTrustStore(.nss)
        #expect(results(changes([store]).trust(dryRun: false)) == [.changed])
        let path = folder.url.path
        #expect(TrustChanges.replaced(by: certificate, in: path).isEmpty)
        let next = try await Certificate.fixture()
        #expect(TrustChanges.replaced(by: next, in: path) == [certificate])
        #expect(TrustChanges.replaced(by: nil, in: path) == [certificate])
        #expect(results(changes([store]).untrust(dryRun: false)) == [.changed])
        #expect(TrustChanges.replaced(by: next, in: path).isEmpty)
    }

    @Test func certificateThatWasTrustedBeforeStays() {
        let changes = changes([RecordingTrustStore(.nss, "/mine", .trusted), RecordingTrustStore(.nss, "/other")])
        #expect(results(changes.trust(dryRun: false)) == [.unchanged, .changed])
        #expect(results(changes.untrust(dryRun: false)) == [.kept, .changed])
    }

    @Test func withoutTheRecordEveryStoreIsCleaned() throws {
        let changes = changes([RecordingTrustStore(.nss, "/mine", .trusted), RecordingTrustStore(.nss, "/other")])
        _ = changes.trust(dryRun: false)
        try folder.write("{\"damaged", to: TrustRecord.name)
        #expect(results(changes.untrust(dryRun: false)) == [.changed, .changed])
    }

    @Test func aRecordThatCannotBeWrittenIsAWarning() {
        let changes = TrustChanges(of: certificate, file: "/ca.pem", folder: "/proc", stores: [RecordingTrustStore(.nss)])
        let report = changes.trust(dryRun: false)
        #expect(report.outcomes.map(\.result) == [.changed])
        #expect(report.warning?.contains("/proc/ca-trust.json") == true)
        #expect(changes.untrust(dryRun: false).outcomes.map(\.result) == [.changed])
    }

    @Test func aDryRunChangesNothing() {
        let changes = changes([RecordingTrustStore(.nss)])
        #expect(results(changes.trust(dryRun: true)) == [.planned(["add /ca.pem"])])
        #expect(changes.presence().map(\.presence) == [.absent])
        #expect(folder.text(of: TrustRecord.name) == "")
    }

    /// The person ran the line, so the certificate counts as put there by `ca trust`.
    @Test func trustAddedByAPersonIsRevokedToo() {
        let store = RecordingTrustStore(.system, obstacle: .needsRoot)
        let changes = changes([store])
        #expect(results(changes.trust(dryRun: false)) == [.byHand("only root may change it", ["add /ca.pem"])])
        store.set(.trusted)
        #expect(results(changes.trust(dryRun: false)) == [.unchanged])
        #expect(results(changes.untrust(dryRun: false)) == [.byHand("only root may change it", ["remove"])])
    }

    @Test func oneStoreThatFailsDoesNotHinderTheNext() {
        let changes = changes([
            RecordingTrustStore(.nss, "/a", obstacle: .failed("broken")), RecordingTrustStore(.java, "/b", .unknown("no keytool")),
            RecordingTrustStore(.nss, "/c", obstacle: .missing(program: "certutil", package: "libnss3-tools")),
            RecordingTrustStore(.nss, "/d"),
        ])
        #expect(
            results(changes.trust(dryRun: false)) == [
                .failed("broken"), .failed("no keytool"),
                .byHand("certutil is missing", ["sudo apt-get install --yes libnss3-tools", "add /ca.pem"]), .changed,
            ])
    }

    @Test func aStoreThatTheSystemFillsWaitsForIt() {
        let system = RecordingTrustStore(.system, obstacle: .needsRoot)
        let java = RecordingTrustStore(.java, followsSystem: true)
        #expect(results(changes([system, java]).trust(dryRun: false)).last == .byHand("it is made of the system's store", []))
        #expect(results(changes([RecordingTrustStore(.system), java]).trust(dryRun: false)) == [.changed, .changed])
    }
}

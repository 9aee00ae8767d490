import Foundation
import LayoverTestSupport

/// A real program that is run without a proxy and by Layover, against the origin of `origin.py`.
struct DirectProgram: Sendable, CustomStringConvertible {
    /// Where one run happens.
    struct Place: Sendable {
        /// The origin's address, without a slash at the end.
        var base: String
        /// The proxy of the run; nil for a run without one.
        var proxy: String?
        /// The file of the authority that the program is to trust.
        var authority: String
        /// The working folder of this run.
        var folder: TemporaryFolder
    }

    var name: String
    var command: @Sendable (Place) -> Command
    /// Files in the working folder that the program makes. Their bytes are compared.
    var files: [String] = []
    /// Puts the files of the origin back into the state in which each run begins.
    var prepare: (@Sendable (_ originFiles: TemporaryFolder) async throws -> Void)?
    var ways: [DirectWay] = [.plain, .tunnel, .interception]

    var description: String { name }
}

/// Origins of which one program at a time has the use, so that it is known which requests belong to its run.
final class DirectLane: Sendable {
    private let rig: DirectRig
    private let files: TemporaryFolder
    private let plain: RunningOrigin
    private let secure: RunningOrigin

    init(_ rig: DirectRig) async throws {
        self.rig = rig
        files = try TemporaryFolder()
        try await DirectProgram.makeFiles(in: files)
        plain = try await RunningOrigin.start(in: files)
        secure = try await RunningOrigin.start(in: files, identity: rig.authority.identity)
    }

    /// The log of both ends for one run.
    ///
    /// - Parameter path: Nil for a run without a proxy.
    func run(_ program: DirectProgram, _ way: DirectWay, _ path: DirectPath?) async throws -> [String] {
        try await program.prepare?(files)
        let origin = way.isOriginSecure ? secure : plain
        let layover = path.flatMap { rig.layovers[$0] }
        var authority = rig.authority.certificate
        if way == .interception, let layover { authority = DirectRig.ownAuthority(of: layover) }
        let place = DirectProgram.Place(
            base: "\(way.isOriginSecure ? "https" : "http")://\(way.host):\(origin.port)", proxy: layover?.proxyURL, authority: authority,
            folder: try TemporaryFolder())
        var command = program.command(place).with(Self.trust(authority))
        if let proxy = place.proxy { command = command.with(["http_proxy": proxy, "https_proxy": proxy]) }
        command.folder = place.folder.url
        let before = origin.records.count
        let result = try await command.run()
        let records = origin.records.dropFirst(before).map(Self.essence)
        let contents = program.files.map { name in
            let bytes = try? Data(contentsOf: place.folder.file(name))
            return "client: \(name) \(bytes.map { DirectLog.essence($0) } ?? "is missing")"
        }
        return records + ["client: ended with \(result.status): \(Self.essence(ofOutput: result.output))"] + contents
    }

    /// The variables by which programs take an authority.
    private static func trust(_ authority: String) -> [String: String] {
        Dictionary(
            uniqueKeysWithValues: [
                "CURL_CA_BUNDLE", "SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "GIT_SSL_CAINFO", "NODE_EXTRA_CA_CERTS", "PIP_CERT",
            ]
            .map { ($0, authority) })
    }

    /// Names of fields are in lower case, as by HTTP/2.
    private static func essence(_ record: RunningOrigin.Record) -> String {
        let fields = (record.fields ?? []).map { "\($0[0].lowercased()): \($0[0].lowercased() == "host" ? "HOST" : $0[1])" }
        // pip names the compiler of Rust if that tells its version within half a second.
        let head = DirectLog.essence(([""] + fields).joined(separator: "\r\n")).replacing(#/"rustc_version":"[^"]*",/#, with: "")
        return "origin: \(record.event) \(record.method) \(record.target) \(head), \(record.length ?? 0) bytes \(record.sha256 ?? "")"
    }

    /// `/echo` prints the fields that came, which are compared by the records.
    private static func essence(ofOutput output: String) -> String {
        output.replacing(#/"fields": \[\[.*\]\]/#, with: "").replacing(#/(127\.0\.0\.1|localhost):\d+/#, with: "HOST")
    }
}

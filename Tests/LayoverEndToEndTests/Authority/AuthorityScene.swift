import Foundation
import LayoverTestSupport

/// A proxy with an authority of its own, an origin that shows a certificate of it, and a home folder with nothing in it.
///
/// Programs run in an environment that has nothing else: a machine may preset every variable that tells of authorities.
struct AuthorityScene {
    let layover: RunningLayover
    let home: TemporaryFolder
    let root: TemporaryFolder

    init() async throws {
        home = try TemporaryFolder()
        root = try TemporaryFolder()
        layover = try await RunningLayover.start()
        try await command("ca", "init").succeed()
    }

    /// The folder of the store, and so of the authority.
    var folder: String { layover.folder.url.path }
    var certificate: String { "\(folder)/ca.pem" }

    private var words: [String] {
        [
            "-i", "PATH=/usr/local/bin:/usr/bin:/bin", "HOME=\(home.url.path)", "LC_ALL=C.UTF-8", "STATE_DIRECTORY=\(folder)",
            "LAYOVER_CONFIG=\(folder)/config.json", "LAYOVER_ADMIN_URL=\(layover.adminURL)",
        ]
    }

    /// A command of Layover's own.
    func command(_ arguments: String...) -> Command { Command("/usr/bin/env", words + [RunningLayover.binary] + arguments) }

    /// A program of a shell that did `eval "$(layover env --ca)"`.
    ///
    /// - Parameter before: Variables that were set before.
    func client(_ words: [String], before: [String] = []) -> Command {
        let script = #"variables=$("$0" env --ca --shell sh) || exit 99; eval "$variables"; exec "$@""#
        return Command("/usr/bin/env", self.words + before + ["/bin/sh", "-c", script, RunningLayover.binary] + words)
    }

    func shell(_ script: String, before: [String] = []) -> Command {
        Command("/usr/bin/env", words + before + ["/bin/sh", "-c", script, RunningLayover.binary])
    }

    func startOrigin() async throws -> RunningOrigin {
        let leaf = try await TestAuthority.identity(in: root, signedBy: certificate, key: "\(folder)/ca.key")
        return try await RunningOrigin.start(in: root, identity: leaf)
    }
}

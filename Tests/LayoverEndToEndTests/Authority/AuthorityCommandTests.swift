import Foundation
import LayoverTestSupport
import Testing

extension EndToEnd {
    /// `layover ca` and `layover env --ca`, as people and scripts see them.
    @Suite struct AuthorityCommands {
        private let scene: AuthorityScene

        init() async throws { scene = try await AuthorityScene() }

        @Test func anAuthorityIsMadeOnce() async throws {
            let first = try String(contentsOfFile: scene.certificate, encoding: .utf8)
            let again = try await scene.command("ca", "init").succeed().output
            #expect(try String(contentsOfFile: scene.certificate, encoding: .utf8) == first)
            #expect(again.hasPrefix("The certificate authority is there already.\n"), "\(again)")
            #expect(again.contains(scene.certificate) && again.contains("layover ca trust"), "\(again)")
            let mode = try FileManager.default.attributesOfItem(atPath: "\(scene.folder)/ca.key")[.posixPermissions] as? Int
            #expect(mode == 0o600)
        }

        @Test func processesThatMakeAnAuthorityAtTheSameTimeHaveOne() async throws {
            let folder = try TemporaryFolder()
            let config = try folder.write(#"{"tls":{"folder":"authority"}}"#, to: "config.json")
            let outputs = try await withThrowingTaskGroup(of: String.self) { group in
                for _ in 0..<4 {
                    group.addTask { try await Command(RunningLayover.binary, ["ca", "init", "--config", config]).succeed().output }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            let fingerprint = try await Command(
                "openssl", ["x509", "-noout", "-fingerprint", "-sha256", "-in", folder.file("authority/ca.pem").path]
            ).succeed().output.split(separator: "=")[1].replacing(":", with: "").trimmingCharacters(in: .whitespacesAndNewlines)
            #expect(outputs.allSatisfy { $0.replacing(":", with: "").lowercased().contains(fingerprint.lowercased()) }, "\(outputs)")
            for (name, mode) in [("", 0o700), ("/ca.key", 0o600), ("/ca.pem", 0o644)] {
                let path = folder.file("authority").path + name
                #expect(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int == mode, "\(name)")
            }
        }

        @Test func theCertificateIsExportedInThreeForms() async throws {
            let pem = try await scene.command("ca", "export").succeed().output
            #expect(pem == (try String(contentsOfFile: scene.certificate, encoding: .utf8)))
            let der = scene.home.file("ca.der").path
            try await scene.command("ca", "export", "--format", "der", "-o", der).succeed()
            let read = try await Command("openssl", ["x509", "-inform", "DER", "-in", der]).succeed().output
            #expect(read == pem)
            let store = scene.home.file("ca.p12").path
            try await scene.command("ca", "export", "--format", "p12", "--output", store).succeed()
            try await Command("openssl", ["asn1parse", "-inform", "DER", "-in", store]).succeed()
        }

        @Test func statusShowsTheAuthorityAndItsStores() async throws {
            struct Status: Decodable {
                struct Store: Decodable {
                    var kind: String
                    var place: String
                    var trusted: Bool?
                }
                var certificate: String
                var fingerprint: String
                var notAfter: String
                var subject: String
                var stores: [Store]
            }
            let output = try await scene.command("ca", "status", "--json").succeed().output
            let status = try JSONDecoder().decode(Status.self, from: Data(output.utf8))
            #expect(status.certificate == scene.certificate && status.fingerprint.count == 64)
            let database = scene.home.file(".local/share/pki/nssdb").path
            #expect(status.stores.contains { $0.kind == "nss" && $0.place == database && $0.trusted == false }, "\(output)")
            let text = try await scene.command("ca", "status").succeed().output
            #expect(text.contains("nss \(database)") && text.contains("not trusted"), "\(text)")
        }

        @Test func withoutAnAuthorityExportStatusAndUntrustAreRefused() async throws {
            let folder = try TemporaryFolder()
            try folder.write(#"{"tls":{"folder":"authority"}}"#, to: "config.json")
            for words in [["export"], ["status", "--json"], ["untrust"], ["trust", "--dry-run"]] {
                let result = try await Command(
                    RunningLayover.binary, ["ca"] + words + ["--config", folder.file("config.json").path]
                ).with(["HOME": folder.url.path]).run()
                #expect(result.status == 3, "\(words): \(result)")
                #expect(result.errors.contains("there is no authority in \(folder.url.path)/authority; layover ca init makes one"), "\(result)")
            }
            #expect(!FileManager.default.fileExists(atPath: folder.file("authority").path))
        }

        @Test func aDryRunChangesNothing() async throws {
            let result = try await scene.command("ca", "trust", "--dry-run").succeed().output
            #expect(result.contains("This would be done:") && result.contains("certutil -A -d sql:\(scene.home.url.path)"), "\(result)")
            #expect(!FileManager.default.fileExists(atPath: scene.home.file(".local").path))
        }

        @Test func otherSystemsGetInstructions() async throws {
            let lines = try await scene.command("ca", "trust", "--instructions").succeed().output
            for word in ["update-ca-certificates", "update-ca-trust", "trust anchor", "add-trusted-cert", "-addstore Root"] {
                #expect(lines.contains(word), "\(lines)")
            }
        }

        // MARK: Variables

        @Test func theVariablesAreSetAndTakenBack() async throws {
            let other = try await TestAuthority(in: scene.root).certificate
            let script = """
                env | sort > "$HOME/before"
                eval "$("$0" env --ca --shell bash)" && eval "$("$0" env --ca --shell bash)"
                env | sort > "$HOME/between"
                eval "$("$0" env --unset --shell bash)"
                env | sort > "$HOME/after"
                """
            let before = ["NODE_EXTRA_CA_CERTS=\(other)", "JAVA_TOOL_OPTIONS=-Xmx1g -Da='b c'"]
            try await scene.shell(script, before: before).succeed()
            #expect(scene.home.text(of: "after") == scene.home.text(of: "before"))
            let between = scene.home.text(of: "between")
            #expect(between.contains("\nSSL_CERT_FILE=\(scene.folder)/clients/bundle.pem\n"), "\(between)")
            #expect(between.contains("\nJAVA_TOOL_OPTIONS=-Xmx1g -Da='b c' -Dlayover.env=1 -Dhttp.proxyHost=127.0.0.1 "), "\(between)")
        }

        @Test func withoutTheOptionNoAuthorityIsNamed() async throws {
            let output = try await scene.command("env", "--shell", "sh").succeed().output
            #expect(!output.contains("SSL_CERT_FILE") && !output.contains("trustStore"), "\(output)")
            #expect(output.contains("-Dhttps.proxyPort=\(scene.layover.proxyPort) -Dhttp.nonProxyHosts='"), "\(output)")
        }
    }
}

import Foundation
import LayoverTLS
import LayoverTestSupport
import Testing

struct AuthorityTests {
    @Test func authorityHasWhatStrictVerifiersAskFor() async throws {
        let folder = try TemporaryFolder()
        let path = folder.file("tls").path
        _ = try CertificateAuthority.loadOrMake(folder: path, now: time(nil))
        let text = try await Command("openssl", ["x509", "-in", path + "/ca.pem", "-noout", "-text"]).succeed().output
        for part in [
            "CA:TRUE, pathlen:0", "Basic Constraints: critical", "Key Usage: critical", "Certificate Sign, CRL Sign", "Subject Key Identifier",
            "prime256v1",
        ] { #expect(text.contains(part), "\(part)") }
        try await Command("openssl", ["verify", "-x509_strict", "-CAfile", path + "/ca.pem", path + "/ca.pem"]).succeed()
        #expect(try modeOfFile(path) == 0o700)
        #expect(try modeOfFile(path + "/ca.key") == 0o600)
    }

    @Test func authorityIsKnownByItsMachineAndDateForTenYears() async throws {
        let folder = try TemporaryFolder()
        let now = 1_800_000_000
        var serials = Set<String>()
        for name in ["one", "two"] {
            _ = try CertificateAuthority.loadOrMake(folder: folder.file(name).path, now: now)
            let words = ["x509", "-noout", "-subject", "-issuer", "-dates", "-serial", "-in", folder.file(name).path + "/ca.pem"]
            let lines = try await Command("openssl", words).succeed().output.split(separator: "\n")
            var machine = [CChar](repeating: 0, count: 256)
            gethostname(&machine, machine.count - 1)
            let name = String(decoding: machine.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
            let subject = "O = Layover, CN = \"Layover CA, \(name.prefix(40)), 2027-01-15\""
            #expect(lines[0] == "subject=\(subject)" && lines[1] == "issuer=\(subject)", "\(lines)")
            #expect(lines[2] == "notBefore=Jan 15 07:00:00 2027 GMT" && lines[3] == "notAfter=Jan 14 08:00:00 2037 GMT", "\(lines)")
            serials.insert(String(lines[4]))
        }
        #expect(serials.count == 2)
    }

    @Test func authorityThatIsMadeByManyAtOnceIsOne() async throws {
        let path = try TemporaryFolder()
        let folder = path.file("tls").path
        let made = try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    try await onOwnThread { try CertificateAuthority.loadOrMake(folder: folder, now: time(nil)).fingerprint }
                }
            }
            return try await group.reduce(into: Set<String>()) { $0.insert($1) }
        }
        #expect(made.count == 1)
    }

    @Test func brokenFilesAreClearErrors() throws {
        let folder = try TemporaryFolder()
        let path = folder.file("tls").path
        let now = time(nil)
        let absent = try CertificateAuthority.load(folder: path, now: now)
        #expect(absent == nil)
        let authority = try CertificateAuthority.loadOrMake(folder: path, now: now)
        func code(now: Int = time(nil)) -> CertificateError.Code? {
            do throws(CertificateError) {
                _ = try CertificateAuthority.load(folder: path, now: now)
                return nil
            } catch {
                return error.code
            }
        }
        #expect(code() == nil)
        #expect(code(now: authority.notAfter) == .expired)
        chmod(path + "/ca.key", 0o640)
        #expect(code() == .permissions)
        unlink(path + "/ca.key")
        #expect(code() == .missing)
        try folder.write("no key", to: "tls/ca.key")
        chmod(path + "/ca.key", 0o600)
        #expect(code() == .malformed)
        try folder.write("nothing", to: "tls/ca.pem")
        #expect(code() == .malformed)
        chmod(path, 0o777)
        #expect(code() == .permissions)
    }
}

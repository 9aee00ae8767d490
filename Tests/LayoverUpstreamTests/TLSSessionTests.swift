import Foundation
import LayoverCore
import LayoverEngine
import LayoverOrigin
import LayoverTLS
import LayoverTestSupport
import NIOCore
import Testing

@testable import LayoverUpstream

/// Layover's own TLS, against `openssl s_server` and against raw bytes.
@Suite(.serialized, .directPath)
struct TLSSessionTests {
    /// A response without a length is whole only if the origin said that it ends: the end of the connection can be anybody's.
    /// libcurl takes both for complete.
    @Test(arguments: [true, false], Path.allCases) func endWithoutACloseNotifyIsATruncation(says: Bool, path: Path) async throws {
        let certificates = try TestCertificates()
        let origin = try await ScriptedTLSOrigin(certificates, says ? .endsWell : .isCutOff)
        let rig = try Path.$current.withValue(path) { try UpstreamRig { $0.caFile = certificates.caFile } }
        let facts = await rig.send(rig.request("GET", port: origin.port, scheme: .https))
        #expect(facts.bodyText == "all of it")
        #expect(facts.events.last == (says ? "end" : "failed"))
        if !says {
            facts.failure.expect(kind: .httpResponseIncomplete, evidence: .answered)
        }
    }

    @Test func responseWithALengthIsWholeWithoutACloseNotify() async throws {
        let certificates = try TestCertificates()
        let origin = try await ScriptedTLSOrigin(certificates, .isCutOffBehindALength)
        let rig = try UpstreamRig { $0.caFile = certificates.caFile }
        let facts = await rig.send(rig.request("GET", port: origin.port, scheme: .https))
        #expect(facts.events == ["head", "body", "end"])
    }

    /// The kernel of such an origin keeps a short response back until the tickets are acknowledged, and drops it at the close. Before, our
    /// kernel waited with that for up to 40 ms, and all of the responses were lost.
    @Test func errorOfAnOriginThatGathersItsWritesIsDelivered() async throws {
        let certificates = try TestCertificates()
        let settings = try TLSSettings(certificate: certificates.serverFile, key: certificates.serverKeyFile)
        let origin = try MisbehavingOrigin(tls: settings) { connection in
            connection.gatherWrites()
            guard connection.readHead() != nil else { return }
            connection.answer("no", status: "413 Content Too Large", fields: "Connection: close\r\n")
            connection.closeSilently()
        }
        let text = String(repeating: "x", count: 100_000)
        let rig = try UpstreamRig { $0.caFile = certificates.caFile }
        // An origin that closes within microseconds may be faster than the acknowledgement, on a busy machine often. Of forty in a row a
        // quarter has to arrive, at some time.
        var outcomes: [Bool] = []
        while outcomes.suffix(40).count(where: { $0 }) < 10, outcomes.count < 400 {
            let facts = await rig.send(
                rig.request(
                    "POST", port: origin.port, scheme: .https, framing: .length(text.utf8.count), body: rig.body(text),
                    mayBeSentTwice: false))
            outcomes.append(facts.status == 413 && facts.bodyText == "no")
        }
        #expect(outcomes.suffix(40).count(where: { $0 }) == 10, "of all \(outcomes.count) there came \(outcomes.count(where: { $0 }))")
    }

    /// The second connection needs no full handshake, with either version; the third gets a session of the second.
    @Test(arguments: ["-tls1_2", "-tls1_3"]) func sessionsAreResumed(version: String) async throws {
        let certificates = try TestCertificates()
        let origin = try await ScriptedTLSOrigin(certificates, .tellsTheHandshake, version: version)
        let rig = try UpstreamRig { $0.caFile = certificates.caFile }
        var seen: [String] = []
        for _ in 1...3 {
            let facts = await rig.send(rig.request("GET", port: origin.port, scheme: .https), needsFreshConnection: true)
            seen.append(facts.bodyText)
        }
        #expect(seen == ["new", "resumed", "resumed"])
    }

    @Test func serverNameIsSentForNamesOnlyAndTheProtocolIsNamed() async throws {
        let certificates = try TestCertificates(names: "IP:127.0.0.1,DNS:localhost")
        let origin = try await ScriptedTLSOrigin(certificates, .tellsTheNames)
        let rig = try UpstreamRig { $0.caFile = certificates.caFile }
        #expect(await rig.send(rig.request("GET", port: origin.port, scheme: .https)).bodyText == "None http/1.1")
        let named = rig.request("GET", port: origin.port, scheme: .https, host: "localhost")
        #expect(await rig.send(named).bodyText == "localhost http/1.1")
    }

    @Test func bodiesPassBothWaysAtOnce() async throws {
        let certificates = try TestCertificates()
        let origin = try await ScriptedTLSOrigin(certificates, .echoes)
        let rig = try UpstreamRig { $0.caFile = certificates.caFile }
        let count = 3 << 20
        let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 131 ^ ($0 >> 9)) }
        let body = rig.emptyBody(length: count, mayBeSentTwice: true)
        let record = rig.start(
            rig.request("PUT", port: origin.port, scheme: .https, framing: .length(count), body: body))
        for start in stride(from: 0, to: count, by: 50_000) {
            _ = body.append(ByteBuffer(bytes: bytes[start..<min(count, start + 50_000)]))
        }
        body.finish()
        let facts = await record.ended()
        #expect(facts.events == ["head", "body", "end"])
        #expect(facts.body == bytes)
    }

    @Test func trustFileThatCannotBeReadIsAnError() {
        #expect(throws: TLSError.self) { try TLSClientContext(trustFile: "/no/such/file") }
    }
}

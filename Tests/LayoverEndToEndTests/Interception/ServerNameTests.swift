import LayoverTestSupport
import Testing

extension EndToEnd {
    /// Which certificate a client gets, by the name in its ClientHello and the host of its CONNECT.
    @Suite struct ServerNames {
        static let long = String(repeating: "a", count: 60) + "." + String(repeating: "b", count: 60) + ".example"

        /// Host of CONNECT, name in the ClientHello, name in the certificate.
        static let cases: [(host: String, name: String?, expected: String)] = [
            ("localhost", "localhost", "localhost"),
            ("localhost", nil, "localhost"),
            ("LocalHost", nil, "localhost"),
            ("localhost", "LOCALHOST", "localhost"),
            ("localhost.", nil, "localhost"),
            ("localhost.", "localhost.", "localhost"),
            ("localhost", "other.example", "other.example"),
            ("localhost", "xn--bcher-kva.example", "xn--bcher-kva.example"),
            ("localhost", long, long),
            ("127.0.0.1", nil, "127.0.0.1"),
            ("127.0.0.1", "shop.example", "shop.example"),
            ("[::1]", nil, "0:0:0:0:0:0:0:1"),
        ]

        @Test func certificateIsForTheNameOfTheHelloOrElseForTheHostOfConnect() async throws {
            let test = try await InterceptionScene(hosts: ["127.0.0.1", "[::1]"])
            for (host, name, expected) in Self.cases {
                let client = try await test.tunnelClient(name.map { ["--name", $0] } ?? [], to: "\(host):443")
                #expect(client.names == [expected], "CONNECT \(host), name \(name ?? "none")")
            }
        }

        /// Otherwise the name in the hello would get round the rules for hosts.
        @Test func requestGoesToTheHostOfConnectWhateverTheNameOfTheHello() async throws {
            let (test, origin) = try await InterceptionScene.withOrigin()
            let client = try await test.tunnelClient(["--name", "elsewhere.example", "--get", "/echo"])
            #expect(client.names == ["elsewhere.example"] && client.status == 200, "\(client)")
            #expect(origin.records.map(\.target) == ["/echo"])
            for name in ["elsewhere.example", "localhost"] {
                let other = try await test.tunnelClient(["--name", name, "--get", "/echo", "--host", "elsewhere.example"])
                #expect(other.status == 421, "\(other)")
            }
            #expect(origin.records.count == 1)
        }
    }
}

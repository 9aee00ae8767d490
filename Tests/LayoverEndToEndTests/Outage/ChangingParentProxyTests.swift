import Foundation
import LayoverTestSupport
import Testing

extension EndToEnd {
    /// More than one parent proxy, and parent proxies that change while requests wait.
    @Suite(.bothPaths) struct ChangingParentProxies {
        private static func configuration(_ rest: String) -> String {
            #"{"policies": {"default": {"delay": {"type": "constant", "every": "100ms", "jitter": "none"}}}, \#(rest)}"#
        }

        /// A connection to an origin belongs to the parent proxy by which it was opened.
        @Test func connectionsAreNotSharedBetweenParentProxies() async throws {
            let (root, port) = (try TemporaryFolder(), try ReservedPort())
            let authority = try await TestAuthority(in: root)
            let (one, two) = (try await RunningParentProxy.start(), try await RunningParentProxy.start())
            let upstream = #""upstream": "https://localhost:\#(port.number)""#
            let layover = try await RunningLayover.start(
                """
                {"tls": {"caFile": "\(authority.certificate)"}, "proxy": {"threads": 1},
                 "routes": {"one": {\(upstream), "upstreamProxy": "http://127.0.0.1:\(one.port)"},
                            "two": {\(upstream), "upstreamProxy": "http://127.0.0.1:\(two.port)"},
                            "none": {\(upstream), "upstreamProxy": "direct"}}}
                """)
            let origin = try await RunningOrigin.start(in: root, port: port, identity: authority.identity)
            let names = ["one", "two", "none", "one", "none", "two", "one", "two", "none"]
            for (number, name) in names.enumerated() {
                try await Command(
                    "curl", ["--silent", "--fail", "http://127.0.0.1:\(layover.proxyPort)/.layover/route/\(name)/echo?\(number)"]
                ).succeed()
            }
            #expect(origin.records.map(\.target) == names.indices.map { "/echo?\($0)" })
            // The first of each opened a connection, which the others found in the pool.
            for parentProxy in [one, two] { #expect(parentProxy.records.map(\.target) == ["localhost:\(port.number)"]) }
            // With a parent proxy gone, its route waits and the others do not.
            await one.kill()
            let client = try Command(
                "curl", ["--silent", "--max-time", "60", "http://127.0.0.1:\(layover.proxyPort)/.layover/route/one/echo?waits"]
            )
            .start()
            try await layover.waitForPending("the route waits") { $0.data.count == 1 }
            for name in ["two", "none"] {
                try await Command(
                    "curl", ["--silent", "--fail", "http://127.0.0.1:\(layover.proxyPort)/.layover/route/\(name)/echo?after"]
                ).succeed()
            }
            try await layover.command("cancel", "--all").succeed()
            #expect(await client.result().output.contains("cancelled"))
        }

        @Test func requestThatWaitsGoesByTheParentProxyOfTheNewConfiguration() async throws {
            let (root, port, gone) = (try TemporaryFolder(), try ReservedPort(), try ReservedPort())
            let folder = try TemporaryFolder()
            try folder.write(Self.configuration(#""upstreamProxy": {"url": "http://127.0.0.1:\#(gone.number)"}"#), to: "config.json")
            let layover = try await RunningLayover.start(in: folder)
            let origin = try await RunningOrigin.start(in: root, port: port)
            let client = try layover.curl("--fail", "--max-time", "50", "--data", "order", "http://origin.behind:\(port.number)/echo?order")
                .start()
            try await layover.waitForPending("it waits for its parent proxy") { $0.data.first?.waitingFor == "origin" }

            let parentProxy = try await RunningParentProxy.start(credentials: "me:secret")
            try folder.write(
                Self.configuration(#""upstreamProxy": {"url": "http://me:secret@127.0.0.1:\#(parentProxy.port)"}"#), to: "config.json")
            try await layover.command("reload").succeed()
            #expect(await client.result().status == 0)
            #expect(origin.records.map(\.target) == ["/echo?order"])
            #expect(parentProxy.records.count == 1)
            // The request is sent without a parent proxy if the new configuration has none.
            try folder.write(Self.configuration(#""upstreamProxy": {"url": null}"#), to: "config.json")
            try await layover.command("reload").succeed()
            try await layover.curl("--fail", "http://127.0.0.1:\(port.number)/echo?direct").succeed()
            #expect(origin.records.map(\.target) == ["/echo?order", "/echo?direct"])
            #expect(parentProxy.records.count == 1)
        }

        @Test func ticketOutlivesItsProcessAndGoesByTheParentProxy() async throws {
            let (root, port, parentProxyPort) = (try TemporaryFolder(), try ReservedPort(), try ReservedPort())
            let folder = try TemporaryFolder()
            let url = "http://me:secret@127.0.0.1:\(parentProxyPort.number)"
            try folder.write(Self.configuration(#""upstreamProxy": {"url": "\#(url)"}"#), to: "config.json")
            let first = try await RunningLayover.start(in: folder)
            let accepted = try await first.curl(
                "--header", "Prefer: respond-async, wait=0", "--data", "order", "--output", "/dev/null", "--write-out",
                "%{http_code} %header{location}",
                "http://origin.behind:\(port.number)/echo?order"
            ).succeed().output
            #expect(accepted.hasPrefix("202 "))
            await first.kill()

            let origin = try await RunningOrigin.start(in: root, port: port)
            let second = try await RunningLayover.start(in: folder)
            let parentProxy = try await RunningParentProxy.start(port: parentProxyPort, credentials: "me:secret")
            let path = try #require(accepted.split(separator: "/.layover/").last)
            let ticket = "http://127.0.0.1:\(second.proxyPort)/.layover/\(path)"
            let state = try await Command("curl", ["--silent", "--header", "Prefer: wait=30", ticket]).succeed().output
            #expect(state.contains(#""state":"delivered""#), "\(state)")
            #expect(try await Command("curl", ["--silent", "\(ticket)/response"]).succeed().output.contains("/echo?order"))
            #expect(origin.records.map(\.target) == ["/echo?order"])
            #expect(parentProxy.records.map(\.method) == ["POST"])
            // The password is not on disk.
            let files = try FileManager.default.contentsOfDirectory(atPath: folder.url.path).filter { $0 != "config.json" }
            for name in files {
                let data = (try? Data(contentsOf: folder.file(name))) ?? Data()
                #expect(data.range(of: Data("me:secret".utf8)) == nil && data.range(of: Data("bWU6c2VjcmV0".utf8)) == nil, "\(name)")
            }
        }
    }
}

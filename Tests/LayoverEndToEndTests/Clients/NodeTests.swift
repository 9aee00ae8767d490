import LayoverTestSupport
import Testing

extension EndToEnd {
    @Suite struct Node {
        /// `http.request` with the proxy as host and the whole target as path.
        private static let request = """
            const http = require('http');
            const [port, url] = process.argv.slice(1);
            const request = http.request({host: '127.0.0.1', port, path: url, method: 'POST',
              headers: {Host: new URL(url).host}}, answer => {
              let text = '';
              answer.on('data', part => text += part);
              answer.on('end', () => console.log(answer.statusCode, text));
            });
            request.end('order=1');
            """

        /// Up to Node 22 fetch reads no proxy variables; the agent of its own library is what its manual names.
        private static let fetchThroughAgent = """
            const {setGlobalDispatcher, ProxyAgent} = require('undici');
            const [proxy, url] = process.argv.slice(1);
            setGlobalDispatcher(new ProxyAgent(proxy));
            fetch(url, {method: 'POST', body: 'order=1'})
              .then(async answer => console.log(answer.status, await answer.text()));
            """

        private static let fetch = """
            fetch(process.argv[1], {method: 'POST', body: 'order=1'})
              .then(async answer => console.log(answer.status, await answer.text()));
            """

        @Test(arguments: OriginTiming.allCases)
        func aRequestWithAnAbsoluteTargetIsAnswered(timing: OriginTiming) async throws {
            let scene = try await Scene()
            let (result, records) = try await scene.run(
                scene.layover.client(
                    "node", "-e", Self.request, String(scene.layover.proxyPort), scene.url("/echo")),
                origin: timing)

            #expect(result.output.hasPrefix("200 "), "\(result)")
            #expect(records.map(\.length) == [7])
        }

        /// This agent tunnels even plain http by CONNECT.
        @Test(arguments: OriginTiming.allCases)
        func fetchWithAProxyAgentIsAnswered(timing: OriginTiming) async throws {
            let scene = try await Scene()
            let client = scene.layover.client(
                "node", "-e", Self.fetchThroughAgent, scene.layover.proxyURL, scene.url("/echo")
            ).with(["NODE_PATH": "/usr/share/nodejs"])
            let (result, records) = try await scene.run(client, origin: timing)

            #expect(result.output.hasPrefix("200 "), "\(result)")
            #expect(records.map(\.length) == [7])
        }

        /// A fetch that knows nothing of proxies: the route's address stands in for the origin's.
        @Test(arguments: OriginTiming.allCases)
        func fetchByTheAddressOfARouteIsAnswered(timing: OriginTiming) async throws {
            let port = try ReservedPort()
            let root = try TemporaryFolder()
            let layover = try await RunningLayover.start(
                """
                {"policies":{"default":{"delay":{"type":"constant","every":"100ms","jitter":"none"}}},
                 "routes":{"shop":{"upstream":"http://127.0.0.1:\(port.number)/"}}}
                """)
            let client = Command("node", ["-e", Self.fetch, "\(layover.proxyURL)/.layover/route/shop/echo"])
            var origin = timing == .already ? try await RunningOrigin.start(in: root, port: port) : nil
            let running = try client.start()
            if origin == nil {
                try await layover.waitForPending("node waits") { !$0.data.isEmpty }
                origin = try await RunningOrigin.start(in: root, port: port)
            }
            let result = await running.result()

            #expect(result.output.hasPrefix("200 "), "\(result)")
            #expect(origin?.records.map(\.target) == ["/echo"])
        }
    }
}

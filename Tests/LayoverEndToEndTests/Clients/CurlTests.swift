import LayoverTestSupport
import Testing

extension EndToEnd {
    @Suite struct Curl {
        @Test(arguments: OriginTiming.allCases)
        func aGetIsAnswered(timing: OriginTiming) async throws {
            let scene = try await Scene()
            let (result, records) = try await scene.run(
                scene.layover.curl("--fail", scene.url("/echo?a=b%2Fc")), origin: timing)

            #expect(result.status == 0, "\(result)")
            #expect(result.output.contains(#""target": "/echo?a=b%2Fc""#))
            #expect(records.map(\.method) == ["GET"])
        }

        /// A refused connection is `neverSent`, so even a POST is sent, once, when the origin is there.
        @Test(arguments: OriginTiming.allCases)
        func postArrivesOnceAndComplete(timing: OriginTiming) async throws {
            let scene = try await Scene()
            let (result, records) = try await scene.run(
                scene.layover.curl("--fail", "--data", "order=1", scene.url("/echo")), origin: timing)

            #expect(result.status == 0, "\(result)")
            #expect(records.map(\.method) == ["POST"])
            #expect(records.map(\.length) == [7])
        }

        @Test(arguments: OriginTiming.allCases)
        func chunkedUploadArrivesOnceAndComplete(timing: OriginTiming) async throws {
            let scene = try await Scene()
            let file = try scene.root.write(String(repeating: "photo", count: 100_000), to: "photo")
            let (result, records) = try await scene.run(
                scene.layover.curl(
                    "--fail", "--header", "Transfer-Encoding: chunked", "--upload-file", file, scene.url("/sink")),
                origin: timing)

            #expect(result.status == 0, "\(result)")
            #expect(records.map(\.length) == [500_000])
        }

        @Test func delayedResponseNamesItsWait() async throws {
            let scene = try await Scene()
            let (result, _) = try await scene.run(
                scene.layover.curl("--fail", "--include", scene.url("/echo")), origin: .later)

            let field = try #require(
                result.output.split(separator: "\r\n").first { $0.lowercased().hasPrefix("proxy-status:") })
            #expect(field.contains("attempts="))
            #expect(field.contains("waited="))
        }

        @Test(arguments: OriginTiming.allCases)
        func aTunnelByConnectIsOpened(timing: OriginTiming) async throws {
            let scene = try await Scene()
            let authority = try await TestAuthority(in: scene.root)
            let (result, _) = try await scene.run(
                scene.layover.curl("--fail", "--cacert", authority.certificate, scene.secureURL("/echo")),
                origin: timing, identity: authority.identity)

            #expect(result.status == 0, "\(result)")
            #expect(result.output.contains(#""target": "/echo""#))
        }

        @Test func waitingConnectIsAnEntryWithHostAndPort() async throws {
            let scene = try await Scene(RunningLayover.noTimedRetries)
            let waiting = try scene.layover.curl(scene.secureURL("/echo")).start()
            let listing = try await scene.layover.waitForPending { $0.waitingCount == 1 }

            #expect(listing.data.map(\.method) == ["CONNECT"])
            #expect(listing.data.map(\.url) == ["localhost:\(scene.port.number)"])
            let response = try await scene.layover.call("POST", "/v1/pending/\(listing.data[0].id)/cancel")
            #expect(response.status == 200)
            // curl's code 56: the proxy refused the CONNECT.
            #expect(await waiting.result().status == 56)
        }
    }
}

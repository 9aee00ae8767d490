import Foundation
import LayoverTestSupport
import Testing

extension EndToEnd {
    /// Responses that never end, or end late: each part is the client's before the next one is sent.
    @Suite(.bothPaths) struct Streams {
        enum Way: String, CaseIterable {
            case absoluteForm, route, keyedRoute
        }

        enum Framing: String, CaseIterable {
            case chunked, untilClose
        }

        private static let eventCount = 20

        /// The origin sends an event only once the client has the one before: one that is held back ends the test by its deadline.
        @Test(arguments: Way.allCases, Framing.allCases)
        func eachEventArrivesBeforeTheNextIsSent(way: Way, framing: Framing) async throws {
            let arrived = (0..<Self.eventCount).map { _ in Signal() }
            let origin = try MisbehavingOrigin { connection in
                guard connection.readHead() != nil else { return }
                let length = framing == .chunked ? "Transfer-Encoding: chunked\r\n" : "Connection: close\r\n"
                connection.write("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nCache-Control: no-store\r\n\(length)\r\n")
                for number in 0..<Self.eventCount {
                    let event = Self.event(number)
                    connection.write(framing == .chunked ? "\(String(event.utf8.count, radix: 16))\r\n\(event)\r\n" : event)
                    guard arrived[number].block() else { return }
                }
                if framing == .chunked { connection.write("0\r\n\r\n") }
            }
            defer { origin.stop() }
            let layover = try await Self.layover(origin.port)
            let request = Self.request("GET", "/events", way, origin.port, "Accept: text/event-stream\r\n")
            let port = layover.proxyPort
            try await onOwnThread {
                let connection = try RawConnection(port: port)
                try connection.send(request)
                var came = Data()
                for number in 0..<Self.eventCount {
                    let deadline = Deadline(in: .seconds(60))
                    while came.range(of: Data(Self.event(number).utf8)) == nil {
                        guard let more = try connection.receive(by: deadline) else { throw ProcessError("The stream ended at event \(number).") }
                        came += more
                    }
                    #expect(came.range(of: Data(Self.event(number + 1).utf8)) == nil, "it is not sent yet")
                    arrived[number].fire()
                }
                came += try connection.receiveAll(within: .seconds(60))
                let text = try PlainResponse(came).text
                #expect(text == (0..<Self.eventCount).map(Self.event).joined())
            }
            await layover.stop()
        }

        /// The length of a gRPC-Web response is not known, its trailers are its last frame, and all of it is binary.
        @Test(arguments: Way.allCases) func grpcWebPassesByteForByte(way: Way) async throws {
            let message = Data([0, 0, 0, 0, 7, 0x0A, 5, 0, 0x0D, 0x0A, 0x0D, 0xFF])
            let trailers = Data("grpc-status:0\r\ngrpc-message:OK\r\n".utf8)
            let frame = Data([0x80, 0, 0, 0, UInt8(trailers.count)]) + trailers
            let gotMessage = Signal()
            let origin = try MisbehavingOrigin { connection in
                guard let (_, body) = connection.readRequest(), Data(body) == message else { return }
                connection.write(
                    "HTTP/1.1 200 OK\r\nContent-Type: application/grpc-web+proto\r\ngrpc-accept-encoding: gzip\r\n"
                        + "Access-Control-Expose-Headers: grpc-status\r\nTransfer-Encoding: chunked\r\n\r\n")
                connection.write(Array(Data("c\r\n".utf8) + message + Data("\r\n".utf8)))
                guard gotMessage.block() else { return }
                connection.write(Array(Data("\(String(frame.count, radix: 16))\r\n".utf8) + frame + Data("\r\n0\r\n\r\n".utf8)))
            }
            defer { origin.stop() }
            let layover = try await Self.layover(origin.port)
            let head = Self.request(
                "POST", "/pkg.Service/Method", way, origin.port,
                "Content-Type: application/grpc-web+proto\r\nX-Grpc-Web: 1\r\nTE: trailers\r\nContent-Length: \(message.count)\r\n")
            let port = layover.proxyPort
            try await onOwnThread {
                let connection = try RawConnection(port: port)
                try connection.send(Data(head.utf8) + message)
                var came = Data()
                let deadline = Deadline(in: .seconds(60))
                while came.range(of: message) == nil {
                    guard let more = try connection.receive(by: deadline) else { throw ProcessError("The response ended early.") }
                    came += more
                }
                gotMessage.fire()
                came += try connection.receiveAll(within: .seconds(60))
                let response = try PlainResponse(came)
                #expect(response.status == 200)
                #expect(response.field("Content-Type") == "application/grpc-web+proto")
                #expect(response.field("grpc-accept-encoding") == "gzip")
                #expect(response.body == message + frame)
            }
            #expect(origin.connections.first?.receivedText.contains("Content-Type: application/grpc-web+proto\r\n") == true)
            await layover.stop()
        }

        /// A WebSocket by each way: what follows the 101 is passed on in both directions, byte for byte.
        @Test(arguments: Way.allCases) func aWebSocketIsATunnel(way: Way) async throws {
            let frame = Data([0x82, 4, 0, 0x0A, 0xFF, 0x0D])
            let origin = try MisbehavingOrigin { connection in
                guard let head = connection.readHead(), head.lowercased().contains("upgrade: websocket") else { return }
                connection.write(
                    "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSet-Cookie: a=1; Path=/; Secure\r\n\r\n")
                while let bytes = connection.read(frame.count) { connection.write(bytes) }
            }
            defer { origin.stop() }
            let layover = try await Self.layover(origin.port)
            let head = Self.request(
                "GET", "/ws", way, origin.port, "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n",
                closes: false)
            let port = layover.proxyPort
            try await onOwnThread {
                let connection = try RawConnection(port: port)
                try connection.send(head)
                var came = Data()
                let deadline = Deadline(in: .seconds(60))
                while came.range(of: Data("\r\n\r\n".utf8)) == nil { came += try connection.receive(by: deadline) ?? Data() }
                let response = try PlainResponse(came)
                #expect(response.status == 101)
                let place = way == .keyedRoute ? "/.layover/route/keyed/~k3y" : "/.layover/route/open"
                #expect(response.field("Set-Cookie") == (way == .absoluteForm ? "a=1; Path=/; Secure" : "a=1; Path=\(place)"))
                for _ in 0..<3 {
                    try connection.send(frame)
                    var echo = Data()
                    while echo.count < frame.count { echo += try connection.receive(by: deadline) ?? Data() }
                    #expect(echo == frame)
                }
            }
            await layover.stop()
        }

        private static func event(_ number: Int) -> String { "data: event \(number).\n\n" }

        private static func layover(_ port: Int) async throws -> RunningLayover {
            let upstream = "http://127.0.0.1:\(port)"
            return try await RunningLayover.start(
                #"{"routes":{"open":{"upstream":"\#(upstream)"},"keyed":{"upstream":"\#(upstream)","key":"k3y"}}}"#)
        }

        private static func request(_ method: String, _ path: String, _ way: Way, _ port: Int, _ fields: String, closes: Bool = true) -> String {
            let target =
                switch way {
                case .absoluteForm: "http://127.0.0.1:\(port)\(path)"
                case .route: "/.layover/route/open\(path)"
                case .keyedRoute: "/.layover/route/keyed/~k3y\(path)"
                }
            let host = way == .absoluteForm ? "127.0.0.1:\(port)" : "localhost"
            return "\(method) \(target) HTTP/1.1\r\nHost: \(host)\r\n\(closes ? "Connection: close\r\n" : "")\(fields)\r\n"
        }
    }
}

import LayoverCore
import LayoverEngine
import LayoverHTTP
import LayoverTestSupport
import NIOCore
import Testing

@testable import LayoverProxy

struct WebhookRequestTests {
    private static let now = Timestamp(nanoseconds: 0)
    private static let body = ByteBuffer(string: #"{"test": 2432232314}"#)

    private static func webhook(_ key: [UInt8]?) -> Webhook {
        Webhook(origin: Origin(scheme: .https, host: "hooks.example"), target: "/hook/hush?x", key: key.map(Webhook.SigningKey.init))
    }

    private static func request(_ webhook: Webhook) -> (stored: StoredRequest, sent: UpstreamRequest, isSigned: Bool) {
        let stored = WebhookRequest.acceptance(
            "msg_p5jXN8AQM9LWM0D4loKWxJek", body: body, to: webhook, userAgent: "layover/1", now: now
        ).request
        var sent = UpstreamRequest(
            purpose: .transfer, origin: stored.origin, method: stored.method, target: stored.target, host: stored.host,
            fields: stored.fields, mayBeSentTwice: true)
        let isSigned = WebhookRequest.address(&sent, to: webhook, stored.body, at: 1_614_265_330)
        return (stored, sent, isSigned)
    }

    /// The example of the specification's reference library: secret `whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw`.
    @Test func signatureIsThatOfTheSpecification() {
        let key: [UInt8] = [
            0x31, 0xF2, 0x90, 0xF6, 0xBF, 0x06, 0x29, 0x8A, 0xAB, 0x4F, 0x08, 0xD4, 0x3C, 0x3F, 0x08, 0x2C, 0xF6, 0x48, 0xA3, 0x62,
            0xDA, 0x2D, 0xA4, 0xB0,
        ]
        let (_, sent, isSigned) = Self.request(Self.webhook(key))
        #expect(isSigned)
        let fields = sent.fields.map { String(buffer: $0.line) }
        #expect(fields.contains("webhook-id: msg_p5jXN8AQM9LWM0D4loKWxJek"))
        #expect(fields.contains("webhook-timestamp: 1614265330"))
        #expect(fields.contains("webhook-signature: v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="))
        #expect(sent.target == "/hook/hush?x")
    }

    @Test func requestWithoutASecretIsNotSigned() {
        let (_, sent, isSigned) = Self.request(Self.webhook(nil))
        #expect(isSigned && !sent.fields.contains { $0.name == "webhook-signature" })
    }

    @Test func storedDataDoesNotContainTheTarget() {
        let webhook = Self.webhook([1])
        let acceptance = WebhookRequest.acceptance("msg_1", body: Self.body, to: webhook, userAgent: "layover/1", now: Self.now)
        #expect(!"\(acceptance)".contains("hush") && !"\(Route.notifications(to: webhook))".contains("hush"))
        #expect(acceptance.request.isNotification && acceptance.request.target.isEmpty)
    }

    private final class Receipt: AcceptingExchange {
        func acceptance(_ result: AcceptanceResult) {}
    }

    @Test(arguments: [true, false])
    func notificationNeedsItsWebhook(isThere: Bool) async throws {
        let webhook = Self.webhook([1])
        try await withProxy(tickets: TestStore(), configuration: { $0.routes = RouteTable(webhook: isThere ? webhook : nil) }) { proxy in
            let acceptance = WebhookRequest.acceptance("msg_1", body: Self.body, to: webhook, userAgent: "layover/1", now: Self.now)
            proxy.engine.post(.accept(acceptance, Receipt()))
            if isThere {
                let attempt = try await proxy.nextAttempt()
                #expect(attempt.attempt.request.target == "/hook/hush?x")
                #expect(attempt.attempt.request.fields.contains { $0.name == "webhook-signature" })
                #expect(try await attempt.wholeBody() == String(buffer: Self.body))
                try await attempt.answerWell(204)
                _ = try await proxy.until(acceptance.new.id, is: .delivered)
            } else {
                _ = try await proxy.until(acceptance.new.id, is: .failed)
                #expect(proxy.upstream.startedCount == 0)
            }
        }
    }

    /// No client can have a request signed, or learn the target by a redirect of its own.
    @Test func routeOfNotificationsIsForNoClient() async throws {
        let routes = RouteTable(webhook: Self.webhook([1]))
        #expect(routes.isEmpty && routes.route(host: "hooks.example", path: "/", method: "POST") == nil)
        try await withProxy(configuration: { $0.routes = routes }) { proxy in
            for name in ["layover/notifications", "layover%2Fnotifications", "layover"] {
                let client = try await proxy.client(
                    sending: "GET /.layover/route/\(name)/ HTTP/1.1\r\nHost: localhost\r\n\r\n")
                #expect(try await client.answer().status == 404)
            }
            #expect(proxy.upstream.startedCount == 0)
        }
    }
}

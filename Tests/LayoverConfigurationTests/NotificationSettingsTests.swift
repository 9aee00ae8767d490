import LayoverCore
import Testing

@testable import LayoverConfiguration

/// `notify`: what would fail at the first incident is refused when the file is read.
struct NotificationSettingsTests {
    private func webhook(_ text: String) throws -> Webhook? {
        try load(text).settings.routes.route(named: Route.notificationsName)?.webhook
    }

    @Test func webhookHasItsOwnRoute() throws {
        let webhook = try #require(try webhook(#"{"notify": {"webhook": "https://hooks.example:8443/a/hush?k=v", "secret": "whsec_AAEC"}}"#))
        #expect(webhook.origin == Origin(scheme: .https, host: "hooks.example", port: 8443))
        #expect(webhook.target.revealed == "/a/hush?k=v")
        #expect(webhook.key?.bytes == [0, 1, 2])
        #expect(try load("{}").settings.routes.route(named: Route.notificationsName) == nil)
    }

    @Test(arguments: [("", "/"), ("?k", "/?k"), ("/", "/")])
    func targetBeginsWithASlash(rest: String, target: String) throws {
        #expect(try webhook(#"{"notify": {"webhook": "http://hooks.example\#(rest)"}}"#)?.target.revealed == target)
    }

    @Test func secretWithoutThePrefixIsTakenAsItIs() throws {
        let webhook = try webhook(#"{"notify": {"webhook": "http://hooks.example", "secret": "hush"}}"#)
        #expect(webhook?.key?.bytes == Array("hush".utf8))
    }

    @Test(arguments: [
        (#"{"webhook": "http://me:hush@hooks.example/"}"#, "notify.webhook: the URL must not contain a user name or a password."),
        (#"{"webhook": "hooks.example"}"#, "notify.webhook: expected a URL that begins with http:// or https://."),
        (#"{"secret": "whsec_h!sh"}"#, "notify.secret: what follows whsec_ must be base64 of at least one byte."),
        (#"{"secret": "whsec_"}"#, "notify.secret: what follows whsec_ must be base64 of at least one byte."),
        (#"{"command": []}"#, "notify.command: it has to begin with a program."),
        (#"{"command": ["/tmp"]}"#, "notify.command: its program is not an executable file, and not found in PATH either."),
        (#"{"command": ["no-such-program", "hush"]}"#, "notify.command: its program is not an executable file, and not found in PATH either."),
    ])
    func mistakeIsRefusedWithoutTheSecret(notify: String, line: String) {
        #expect(complaints(#"{"notify": \#(notify)}"#) == ["config.json: " + line])
    }

    @Test func secretThatSignsNothingIsAWarning() throws {
        let warnings = try load(#"{"notify": {"secret": "hush"}}"#).warnings
        #expect(warnings == ["notify.secret: it signs nothing without notify.webhook"])
    }
}

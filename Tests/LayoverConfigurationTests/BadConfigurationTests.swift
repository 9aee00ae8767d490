import Testing

@testable import LayoverConfiguration

/// Files that are refused, and the one line that each is refused with.
@Suite struct BadConfigurationTests {
    @Test(arguments: [
        // The file as a whole.
        ("[]", "config.json: the file must contain a JSON object, not a list."),
        ("{", "config.json: not JSON: line 1, column 2: expected a name in double quotes."),
        // More than one key, or one with dots.
        (#"{"proxy.listen": "127.0.0.1:1"}"#, "config.json: proxy.listen: unknown key (write nested objects, not names with dots)."),
        (
            #"{"policies": {"slow": {}}, "routes": {"r": {"policy": "slwo"}}}"#,
            "config.json: routes.r.policy: no policy is named \"slwo\" (did you mean slow?)."
        ),
    ])
    func badConfigurationIsRefusedInOneLine(text: String, line: String) {
        #expect(complaints(text) == [line])
    }

    /// Paths, the value at each, and the rest of the line behind the path.
    private static let badValues: [(String, String, String)] = [
        // Unknown keys.
        ("proxi", "{}", ": unknown key (did you mean proxy?)."),
        ("proxy.listn", "1", ": unknown key (did you mean listen?)."),
        ("proxy.Listen", "1", ": unknown key (did you mean listen?)."),
        ("log.colour", "1", ": unknown key (known here: access, format, level)."),
        ("policies.slow.holdmax", #""1s""#, ": unknown key (did you mean holdMax?)."),
        ("routes.api.timeouts.connct", #""1s""#, ": unknown key (did you mean connect?)."),
        // Wrong types.
        ("proxy", "7", ": expected an object, not a number."),
        ("policies", "[]", ": expected an object, not a list."),
        ("routes.api", #""x""#, ": expected an object, not a string."),
        ("proxy.listen", "8080", ": expected a string such as \"127.0.0.1:8080\"."),
        ("proxy.listen", "null", ": expected a string such as \"127.0.0.1:8080\"."),
        ("proxy.insecureOpen", "1", ": expected true or false, not 1."),
        ("proxy.insecureOpen", #""true""#, ": expected true or false, not \"true\"."),
        ("proxy.threads", "true", ": true is not a whole number."),
        ("proxy.threads", "1.5", ": 1.5 is not a whole number."),
        ("proxy.threads", "0", ": 0 is not between 1 and 1024."),
        ("proxy.connectPorts", "[443, 70000]", "[1]: 70000 is not between 1 and 65535."),
        ("proxy.connectPorts", "443", ": expected a list, not 443."),
        ("timeouts.connect", "10", ": expected a string such as \"10s\"."),
        ("timeouts.connect", #""8d""#, ": \"8d\" is longer than 7d."),
        // Bad words and numbers.
        ("policies.slow.delay.initial", #""12 parsecs""#, ": \"12 parsecs\" is not a duration (write 250ms, 10s, 5m or 24h)."),
        ("limits.bodyMax", #""64MB""#, ": \"64MB\" is not a size (write 512B, 64KiB, 64MiB or 1GiB)."),
        ("limits.headerBytes", #""1B""#, ": \"1B\" is less than 1KiB."),
        ("limits.headerBytes", #""513KiB""#, ": \"513KiB\" is more than 512KiB."),
        ("limits.entries", "-1", ": -1 is not between 1 and 100000000."),
        ("log.level", #""loud""#, ": \"loud\" is not one of trace, debug, info, notice, warning, error, critical."),
        ("policies.default.delay.jitter", #""some""#, ": \"some\" is not one of none, full, equal."),
        ("policies.default.delay.multiplier", "0.5", ": 0.5 is not between 1 and 1000."),
        ("policies.a.priority", "8", ": 8 is not between 0 and 7."),
        ("policies.a.holdMax", #""0s""#, ": \"0s\" is shorter than 1ms."),
        ("policies.a.automaticAttemptsMax", "0", ": 0 is not between 1 and 1000000000."),
        ("policies.a.retryOn", #"["dns_timeot"]"#, "[0]: \"dns_timeot\" is not a condition (did you mean dns_timeout?)."),
        (
            "policies.a.retryOn", #"["http_response_staus"]"#,
            "[0]: \"http_response_staus\" is not a condition (did you mean http_response_timeout?)."
        ),
        ("policies.a.retryOn", "[503]", "[0]: expected a string such as \"connectivity\"."),
        ("policies.a.retryOn", #"["connectivity", "600"]"#, "[1]: \"600\" is not a condition."),
        ("policies.a.retryOn", #"["+503"]"#, "[0]: \"+503\" is not a condition."),
        ("policies.a.retryOn", #"["103"]"#, "[0]: \"103\" is not a final status (200 to 599)."),
        ("policies.a.retryAfterMax", "60", ": expected a string such as \"10s\"."),
        ("policies.a.undecidedInLane", #""wait""#, ": \"wait\" is not one of block, skip."),
        ("policies.a.onMaybeApplied", #""force""#, ": \"force\" is not one of fail, ask."),
        ("policies.a.onExhausted", #""wait""#, ": \"wait\" is not \"fail\", \"ask\" or an object."),
        ("policies.a.onExhausted", "null", ": null is not \"fail\", \"ask\" or an object."),
        ("policies.a.budget.ratoi", "1", ": unknown key (did you mean ratio?)."),
        ("routes.a.methods", #"["get"]"#, "[0]: \"get\" matches no request, because method names are upper case (write GET)."),
        ("routes.a.methods", #"["GET", "Put"]"#, "[1]: \"Put\" matches no request, because method names are upper case (write PUT)."),
        ("policies.a.budget.ratio", "-0.1", ": -0.1 is not between 0 and 1000."),
        ("policies.a.budget.minimum", "0.5", ": 0.5 is not a whole number."),
        ("policies.a.budget", "3", ": expected an object, not 3."),
        ("policies.a b", "{}", ": a name has only letters, digits and -._ and begins with a letter or digit."),
        ("proxy.identity", #""1x""#, ": \"1x\" must begin with a letter and have at most 64 characters."),
        ("proxy.identity", #""a b""#, ": \"a b\" is not a name."),
        ("proxy", #"{"listen": "unix:/a", "socketMode": "888"}"#, ".socketMode: \"888\" is not octal permissions (write 0660)."),
        ("reachability.probe.url", #""ftp://x""#, ": expected a URL that begins with http:// or https://."),
        // Secrets, which are not repeated.
        ("admin.token", "1234567", ": expected a string."),
        ("admin.token", "\"\"", ": the token must consist of visible ASCII characters without spaces."),
        ("routes.r.upstream", "1234567", ": expected a string."),
        // Impossible combinations.
        ("admin.viewToken", #""l00k""#, ": without admin.token every caller may do more than read."),
        ("admin", #"{"token": "same", "viewToken": "same"}"#, ".viewToken: is the same as admin.token."),
        ("admin.listen", #""0.0.0.0:8081""#, ": 0.0.0.0:8081 is reachable from other machines, so admin.token is required."),
        (
            "proxy.listen", #""[::]:8080""#,
            ": [::]:8080 is reachable from other machines, so proxy.users must have a user (layover user add NAME), or proxy.insecureOpen must be true."
        ),
        ("admin.listen", #""127.0.0.1:8080""#, ": proxy.listen and admin.listen use the same port 8080."),
        ("proxy.listen", #""127.0.0.1:8081""#, ": proxy.listen and admin.listen use the same port 8081."),
        ("proxy.socketMode", #""0660""#, ": applies to Unix domain sockets only, and proxy.listen is 127.0.0.1:8080."),
        ("policies.a.delay.type", #""constant""#, ": \"constant\" needs delay.every."),
        ("policies.a.delay", #"{"type": "schedule", "delays": []}"#, ".type: \"schedule\" needs at least one duration in delay.delays."),
        ("policies.a.delay", #"{"type": "constant", "every": "1s", "max": "2s"}"#, ".max: does not apply to the type \"constant\"."),
        ("policies.a.delay.every", #""1s""#, ": does not apply to the type \"exponential\"."),
        ("policies.a.delay", #"{"initial": "2s", "max": "1s"}"#, ".initial: is longer than delay.max."),
        ("policies.ask.delay.max", #""1m""#, ": does not apply to the type \"constant\"."),
        // Routes.
        ("routes.r.intercept", "true", ": needs a host: every host must be named before it is intercepted."),
        ("routes.r.policy", #""slow""#, ": no policy is named \"slow\"."),
        ("routes.r.host", #""a.example:80""#, ": \"a.example:80\" is not a host (write api.example.com or *.example.com, without a port)."),
        ("routes.r.pathPrefix", #""a""#, ": \"a\" is not a path that begins with /."),
        ("routes.r.methods", "[]", ": [] lists no method (omit the key to match every method)."),
        ("routes.r.methods", #"["G T"]"#, "[0]: \"G T\" is not a method."),
        ("proxy.publicURL", #""https://me:secret@a.example/""#, ": the URL must not contain a user name (clients can see it)."),
        ("proxy.publicURL", #""https://a.example/?x=1""#, ": the URL must not contain a query."),
        ("proxy.publicURL", #""ftp://a.example/""#, ": expected a URL that begins with http:// or https://."),
        (
            "routes.r.upstream", #""https://me:secret@a.example""#,
            ": the URL must not contain a user name (set Authorization under setFields)."
        ),
        ("routes.r.upstream", #""https://a.example:0""#, ": the URL has no valid port."),
        ("routes.r.upstream", #""https://""#, ": the URL has no valid host."),
        ("routes.r.upstream", #""https://a?b""#, ": the URL must not contain a query."),
        ("routes.r.setFields.Host", #""x""#, ": Layover sets the field Host itself."),
        ("routes.r.setFields.A B", #""x""#, ": invalid field name."),
        ("routes.r.addFields.X", #""a\r\nb""#, ": a value must not contain control characters, or begin or end with a space."),
        ("routes.r.addFields.X", "7", ": expected a string, not a number."),
        ("routes.r.setFields", #"{"X": "1", "x": "2"}"#, ".x: duplicate field: the names differ only in case."),
        ("routes.r.removeFields", #"["Content-Length"]"#, "[0]: Layover sets the field Content-Length itself."),
        (
            "routes.r.allowAddresses", #"["169.254.0.0/33"]"#,
            "[0]: \"169.254.0.0/33\" is not an address (write 169.254.169.254 or fd00::/8)."
        ),
        // Preflights.
        ("policies.a.preflight", "7", ": expected an object, not 7."),
        ("policies.a.preflight.askIn", "[]", ": unknown key (did you mean askOn?)."),
        ("policies.a.preflight.method", #""G T""#, ": \"G T\" is not a method."),
        ("policies.a.preflight.method", #""POST""#, ": \"POST\" is not one of HEAD, GET, OPTIONS."),
        ("policies.a.preflight.method", #""head""#, ": \"head\" is not one of HEAD, GET, OPTIONS."),
        ("policies.a.preflight.method", #""TRACE""#, ": \"TRACE\" is not one of HEAD, GET, OPTIONS."),
        ("policies.a.preflight.method", "null", ": expected a string (method)."),
        ("policies.a.preflight.dropOn", #""404""#, ": expected a list, not \"404\"."),
        ("policies.a.preflight.dropOn", "[404]", "[0]: expected a string such as \"404\"."),
        ("policies.a.preflight.dropOn", #"["404", "40x"]"#, "[1]: \"40x\" is not a final status (\"200\" to \"599\")."),
        ("policies.a.preflight.askOn", #"["100"]"#, "[0]: \"100\" is not a final status (\"200\" to \"599\")."),
        ("policies.a.preflight.askOn", #"["600"]"#, "[0]: \"600\" is not a final status (\"200\" to \"599\")."),
        ("policies.a.preflight.askOn", #"["+412"]"#, "[0]: \"+412\" is not a final status (\"200\" to \"599\")."),
        ("policies.a.preflight", #"{"dropOn": ["404"], "askOn": ["412", "404"]}"#, ".askOn[1]: \"404\" is also listed in dropOn."),
        ("policies.a.preflight.askOn", #"["410"]"#, "[0]: \"410\" is also listed in dropOn, whose default is 404 410."),
        ("policies.a.preflight", #"{"dropOn": [], "askOn": []}"#, ": dropOn or askOn must list at least one status."),
        // Responses in place of an exhausted request.
        ("policies.a.onExhausted.status", "199", ": 199 is not between 200 and 599."),
        ("policies.a.onExhausted.status", "600", ": 600 is not between 200 and 599."),
        ("policies.a.onExhausted.status", #""200""#, ": \"200\" is not a whole number."),
        ("policies.a.onExhausted.staus", "200", ": unknown key (did you mean status?)."),
        ("policies.a.onExhausted.body", "{}", ": expected a string (body)."),
        ("policies.a.onExhausted", #"{"status": 204, "body": "x"}"#, ".body: a response with status 204 has no body."),
        ("policies.a.onExhausted", #"{"status": 205, "body": "x"}"#, ".body: a response with status 205 has no body."),
        ("policies.a.onExhausted", #"{"status": 304, "body": "x"}"#, ".body: a response with status 304 has no body."),
        ("policies.a.onExhausted.fields", "[]", ": expected an object, not a list."),
        ("policies.a.onExhausted.fields.A B", #""x""#, ": invalid field name."),
        ("policies.a.onExhausted.fields", #"{"": "x"}"#, ".: invalid field name."),
        (
            "policies.a.onExhausted.fields.X", #""a\r\nY: b""#,
            ": a value must not contain control characters, or begin or end with a space."
        ),
        ("policies.a.onExhausted.fields.X", #""a\u0000""#, ": a value must not contain control characters, or begin or end with a space."),
        ("policies.a.onExhausted.fields", #"{"X": "1", "x": "2"}"#, ".x: duplicate field: the names differ only in case."),
        ("policies.a.onExhausted.fields.X", "1", ": expected a string, not a number."),
        // The store, and what this version does not have.
        ("store.encryptFields", #"["Set Cookie"]"#, "[0]: \"Set Cookie\" is not a field name."),
        ("store.encryptFields", #""Cookie""#, ": expected a list, not \"Cookie\"."),
        ("store.history", "7", ": expected a string such as \"10s\"."),
        ("store.history", #""0s""#, ": \"0s\" is shorter than 1ms."),
        ("store.history", "null", ": expected a string such as \"10s\"."),
        ("store.url", #""postgresql://me:hush@db.example/layover""#, ": not in this version."),
        ("store.passwordFile", #""p""#, ": \"p\" is not in this version."),
        ("store.keyFile", #""k""#, ": \"k\" is not in this version."),
    ]

    @Test(arguments: badValues)
    func badValueIsRefusedInOneLine(path: String, value: String, rest: String) {
        let text = path.split(separator: ".").reversed().reduce(value) { "{\"\($1)\": \($0)}" }
        #expect(complaints(text) == ["config.json: \(path)\(rest)"])
    }

    @Test func allErrorsAreReportedAtOnce() {
        let text =
            #"{"log": {"level": "x", "nope": 1}, "timeouts": {"idle": "x"}, "policies": {"a": {"mode": "x"}}}"#
        #expect(
            complaints(text, environment: ["LAYOVER_PROXY_THREADS": "many"], overrides: ["a.b": "c"]) == [
                "config.json: log.nope: unknown key (known here: access, format, level).",
                "command line: a.b: unknown key.",
                "LAYOVER_PROXY_THREADS: proxy.threads: \"many\" is not a whole number.",
                "config.json: log.level: \"x\" is not one of trace, debug, info, notice, warning, error, critical.",
                "config.json: timeouts.idle: \"x\" is not a duration (write 250ms, 10s, 5m or 24h).",
                "config.json: policies.a.mode: \"x\" is not one of hold, defer, pass.",
            ])
    }

    @Test func secretsAreNeverRepeated() {
        let text = """
            {"admin": {"token": "se cret"}, "proxy": {"users": {"secret-user": "secret"}},
             "upstreamProxy": {"url": "ftp://me:secret@x"}, "reachability": {"probe": {"url": "secret://secret"}},
             "routes": {"r": {"upstream": "http://secret:secret@a", "setFields": {"Authorization": "secret\\n"}}}}
            """
        let lines = complaints(text)
        #expect(lines.count == 6)
        #expect(!lines.joined().contains("secret\"") && !lines.joined().contains("se cret"))
        #expect(!lines.joined().contains("secret@") && !lines.joined().contains("secret:"))
    }

    /// Nobody should lose the token of the file because a variable was left empty.
    @Test func anEmptyVariableTakesNoTokenAway() {
        #expect(
            complaints(#"{"admin": {"token": "t"}}"#, environment: ["LAYOVER_ADMIN_TOKEN": ""]) == [
                "LAYOVER_ADMIN_TOKEN: admin.token: the token must consist of visible ASCII characters without spaces."
            ])
    }

    /// One mistake is one line: what follows from a refused value is not refused once more.
    @Test func aRefusedListenerIsNotComparedWithOthers() {
        #expect(
            complaints(
                #"{"proxy": {"listen": "x", "socketMode": "0600"}, "admin": {"listen": "127.0.0.1:8080"}}"#)
                == [
                    "config.json: proxy.listen: \"x\" is not an address to listen on "
                        + "(write 127.0.0.1:8080, [::1]:8080 or unix:/path)."
                ])
    }

    @Test func messageIsOneLineWithoutControlCharacters() {
        let lines = complaints(#"{"log": {"level": "a\n\u001b[2Jb", "x\n\u001b[2Jy": 1}}"#)
        #expect(lines.count == 2)
        #expect(lines.allSatisfy { line in line.unicodeScalars.allSatisfy { $0.value >= 0x20 } })
    }
}

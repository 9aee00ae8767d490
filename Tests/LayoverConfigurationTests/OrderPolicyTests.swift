import LayoverCore
import Testing

@testable import LayoverConfiguration

/// The rules for what comes before what, and for what need not be sent at all.
@Suite struct OrderPolicyTests {
    private func policy(_ keys: String) throws -> Policy {
        try #require(try load(#"{"policies": {"a": {\#(keys)}}}"#).settings.routes.policies["a"])
    }

    private func refusals(_ keys: String) -> [String] { complaints(#"{"policies": {"a": {\#(keys)}}}"#) }

    // MARK: Lanes

    @Test(
        arguments: [
            ("null", nil), (#""origin""#, .origin), (#""path:1""#, .path(1)), (#""path:64""#, .path(64)),
            (#""field:Account""#, .field("Account")), (#""field:x-order.id""#, .field("x-order.id")),
        ] as [(String, LaneRule?)])
    func aLaneIsAnOriginSegmentsOrAField(text: String, lane: LaneRule?) throws {
        #expect(try policy(#""lane": \#(text)"#).lane == lane)
    }

    @Test(arguments: [
        (["left", "", "Origin", "path", "field", "origin:"], "write origin, path:2 or field:Account"),
        (
            ["path:0", "path:65", "path:", "path:+2", "path:02", "path:-1", "path:two", "path:9999999999999999999999"],
            "the number of segments must be from 1 to 64"
        ),
        (["field:", "field:A B", "field:A:B"], "the colon must be followed by a field name"),
    ])
    func anythingElseIsNoLane(texts: [String], reason: String) {
        for text in texts {
            #expect(refusals(#""lane": "\#(text)""#) == ["config.json: policies.a.lane: \"\(text)\" is not a lane (\(reason))."])
        }
    }

    /// The name of a lane has the value of the field in it, and is shown.
    @Test(arguments: ["Authorization", "cookie", "Proxy-Authorization", "x-api-key"])
    func aSecretFieldMakesNoLane(name: String) {
        let text = """
            {"store": {"encryptFields": ["Authorization", "Cookie", "X-Api-Key"]},
             "policies": {"default": {"lane": "field:\(name)"}, "heir": {"priority": 1}}}
            """
        #expect(
            complaints(text) == [
                "config.json: policies.default.lane: the value of \(name) is a secret, "
                    + "and the names of lanes are visible."
            ])
    }

    /// Not to encrypt a field does not make a credential fit to be shown.
    @Test func aCredentialMakesNoLaneEvenIfItIsStoredAsItIs() {
        let text = #"{"store": {"encryptFields": []}, "policies": {"a": {"lane": "field:Authorization"}}}"#
        #expect(complaints(text).count == 1)
    }

    @Test func anUndecidedEntryBlocksItsLaneUnlessThePolicySaysSkip() throws {
        #expect(try policy("").undecidedInLane == .block)
        #expect(try policy(#""undecidedInLane": "block""#).undecidedInLane == .block)
        #expect(try policy(#""undecidedInLane": "skip""#).undecidedInLane == .skip)
    }

    // MARK: What need not be sent

    /// A client that holds gets the response of the newer PUT's taking its place.
    @Test(arguments: Policy.Mode.allCases)
    func coalescingGoesWithEveryMode(mode: Policy.Mode) throws {
        #expect(try policy(#""mode": "\#(mode.rawValue)", "coalesce": "lastPut""#).coalesce == .lastPut)
    }

    @Test(arguments: [
        ("{}", "HEAD", [404, 410], [412]),
        (#"{"method": "GET"}"#, "GET", [404, 410], [412]),
        (#"{"dropOn": ["200", "599"]}"#, "HEAD", [200, 599], [412]),
        (#"{"dropOn": [], "askOn": ["404"]}"#, "HEAD", [], [404]),
        (#"{"method": "OPTIONS", "dropOn": ["405"], "askOn": []}"#, "OPTIONS", [405], []),
    ])
    func missingKeysOfAPreflightHaveDefaults(
        text: String, method: String, dropOn: [Int], askOn: [Int]
    ) throws {
        let preflight = try #require(try policy(#""preflight": \#(text)"#).preflight)
        #expect(preflight.method == method)
        #expect(preflight.dropOn == dropOn)
        #expect(preflight.askOn == askOn)
    }

    @Test func nullTakesAnInheritedPreflightAway() throws {
        let made = try load(
            #"{"policies": {"default": {"preflight": {}}, "a": {"preflight": null}, "b": {}}}"#
        )
        .settings.routes.policies
        #expect(made["a"]?.preflight == nil)
        #expect(made["b"]?.preflight == Preflight())
    }

    @Test func variablesSetTheSameValues() throws {
        let policy = try load(
            "{}",
            environment: [
                "LAYOVER_POLICIES_OUTBOX_LANE": "path:2", "LAYOVER_POLICIES_OUTBOX_UNDECIDED_IN_LANE": "skip",
                "LAYOVER_POLICIES_OUTBOX_COALESCE": "lastPut",
                "LAYOVER_POLICIES_OUTBOX_PREFLIGHT": #"{"askOn": ["409"]}"#,
            ]
        ).settings.routes.policies["outbox"]
        #expect(policy?.lane == .path(2))
        #expect(policy?.undecidedInLane == .skip)
        #expect(policy?.coalesce == .lastPut)
        #expect(policy?.preflight?.askOn == [409])
        let none = try load("{}", environment: ["LAYOVER_POLICIES_OUTBOX_LANE": ""])
        #expect(none.settings.routes.policies["outbox"]?.lane == nil)
    }

    @Test func orderRulesAreShownInFileSyntax() throws {
        let loaded = try load(
            #"{"policies": {"a": {"lane": "field:Account", "preflight": {}, "cache": "staleIfError"}}}"#)
        let values = Dictionary(uniqueKeysWithValues: loaded.entries.map { ($0.path, $0.value.text) })
        #expect(values["policies.a.lane"] == #""field:Account""#)
        #expect(
            values["policies.a.preflight"] == #"{"askOn":["412"],"dropOn":["404","410"],"method":"HEAD"}"#)
        #expect(values["policies.a.cache"] == #""staleIfError""#)
        #expect(values["policies.outbox.lane"] == #""origin""#)
        #expect(values["policies.outbox.mode"] == #""defer""#)
        #expect(values["policies.default.preflight"] == "null")
    }
}

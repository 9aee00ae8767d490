import LayoverSystem
import Testing

@testable import LayoverConfiguration

/// `proxy.users`: what is taken, where users have to be, and how the file that has them is changed.
struct UserTests {
    private static let hash = #"$2b$04$KBCwKxOzLha2MUDgW0PjXe/hE/UCO9qF89dOydoHjSwxcHev5LRn."#

    private func text(_ users: String, listen: String = "127.0.0.1:1") -> String {
        #"{"proxy": {"listen": "\#(listen)", "users": \#(users)}}"#
    }

    @Test func soundUsersAreTakenAndNotShown() throws {
        let loaded = try load(text(#"{"me": "\#(Self.hash)", "b ö": "\#(Self.hash)"}"#))
        #expect(loaded.settings.proxy.users == ["me": try PasswordHash(Self.hash), "b ö": try PasswordHash(Self.hash)])
        #expect(loaded.entries.first { $0.path == "proxy.users" }?.value.text.contains("$2") == false)
    }

    @Test(arguments: [
        (#"{"me": "hash"}"#, "proxy.users.me: expected a yescrypt"), (#"{"": "\#(hash)"}"#, "proxy.users.: the name of a user is empty."),
        (#"{"a:b": "\#(hash)"}"#, "proxy.users.a:b: the name of a user must not contain a colon"),
        (#"{"a\tb": "\#(hash)"}"#, "the name of a user must not contain a colon or a control character"),
        (#"[]"#, "proxy.users: expected an object"),
        (#"{"me": 7}"#, "proxy.users.me: expected a string"),
    ])
    func unsoundUsersAreRefused(users: String, words: String) {
        let lines = complaints(text(users))
        #expect(lines.count == 1)
        #expect(lines.first?.contains(words) == true, "\(lines)")
        #expect(lines.first?.contains(Self.hash) == false)
    }

    @Test func listenerForOtherMachinesNeedsUsersOrAWord() {
        let needed = "0.0.0.0:1 is reachable from other machines, so proxy.users must have a user"
        #expect(complaints(text("{}", listen: "0.0.0.0:1")).first?.contains(needed) == true)
        #expect(complaints(text(#"{"me": "\#(Self.hash)"}"#, listen: "0.0.0.0:1")) == [])
        #expect(complaints(#"{"proxy": {"listen": "0.0.0.0:1", "insecureOpen": true}}"#) == [])
    }

    @Test func reloadDoesNotTakeTheLastUserOfAnOpenListener() throws {
        let open = try load(text(#"{"me": "\#(Self.hash)"}"#, listen: "0.0.0.0:1"))
        #expect(throws: ConfigurationErrors.self) { try open.reloaded(as: load(text("{}"))) }
        let other = try load(text(#"{"you": "\#(Self.hash)"}"#))
        #expect(try Array(open.reloaded(as: other).settings.proxy.users.keys) == ["you"])
        let loopback = try load(text(#"{"me": "\#(Self.hash)"}"#))
        #expect(try loopback.reloaded(as: load(text("{}"))).settings.proxy.users == [:])
    }

    // MARK: The text of the file

    /// Every byte outside of `proxy.users` is what it was.
    @Test(arguments: [
        ("{}", "{\n  \"proxy\": {\n    \"users\": {\n      \"a\": \"h\"\n    }\n  }\n}"),
        ("{ }\n", "{\n  \"proxy\": {\n    \"users\": {\n      \"a\": \"h\"\n    }\n  }\n}\n"),
        (#"{"log": {}}"#, #"{"log": {}, "proxy": {"users":{"a":"h"}}}"#),
        (#"{"proxy": {"listen" : "x"} , "log":{}}"#, #"{"proxy": {"listen" : "x", "users": {"a":"h"}} , "log":{}}"#),
        (
            "{\n\t\"proxy\": {},\n\t\"b\" : [1,  2]\n}\n",
            "{\n\t\"proxy\": {\n\t\t\"users\": {\n\t\t\t\"a\": \"h\"\n\t\t}\n\t},\n\t\"b\" : [1,  2]\n}\n"
        ),
        (
            "{\n    \"proxy\": {\n        \"listen\": \"x\"\n    }\n}",
            "{\n    \"proxy\": {\n        \"listen\": \"x\",\n        \"users\": {\n            \"a\": \"h\"\n        }\n    }\n}"
        ),
        (
            "{\n  \"proxy\": {\n    \"users\": { \"old\": \"1\" }, \"x\": \"\\u00e9  }\"\n  }\n}",
            "{\n  \"proxy\": {\n    \"users\": {\n      \"a\": \"h\"\n    }, \"x\": \"\\u00e9  }\"\n  }\n}"
        ),
        ("\u{FEFF}{\"proxy\":{\"users\":null}}", "\u{FEFF}{\"proxy\":{\"users\":{\n  \"a\": \"h\"\n}}}"),
    ])
    func onlyTheUsersOfATextAreReplaced(before: String, after: String) throws {
        var text = try ConfigurationText(Array(before.utf8))
        try text.setUsers(["a": .text("h")])
        #expect(String(decoding: text.bytes, as: UTF8.self) == after)
        #expect(try ConfigurationText(text.bytes).users == .object(["a": .text("h")]))
    }

    @Test(arguments: ["", "[]", "{", "{} x", #"{"a": 1, "a": 2}"#])
    func invalidConfigurationIsNotChanged(text: String) {
        #expect(throws: JSONSyntaxError.self) { try ConfigurationText(Array(text.utf8)) }
    }

    @Test func proxyThatIsNoObjectIsNotChanged() throws {
        var text = try ConfigurationText(Array(#"{"proxy": 1}"#.utf8))
        #expect(throws: JSONSyntaxError.self) { try text.setUsers([:]) }
    }
}

import Testing

@testable import LayoverCache

struct CacheDirectivesTests {
    private func directives(_ values: String...) -> CacheDirectives {
        ResponseFacts.made(200, values.map { "Cache-Control: \($0)" }).directives
    }

    @Test(arguments: [
        ("max-age=60", CacheDirectives.Seconds.value(60)), ("MAX-AGE=60", .value(60)), ("max-age=\"60\"", .value(60)),
        ("private , max-age = 60", .value(60)), ("max-age=0", .value(0)), ("max-age", .unbounded),
        ("max-age=", .invalid), ("max-age=-1", .invalid), ("max-age=1.5", .invalid), ("max-age=60s", .invalid),
        ("max-age=99999999999999999999", .value(1 << 31)), ("max-age=2147483649", .value(1 << 31)),
        ("max-age=60, max-age=60", .value(60)), ("max-age=60, max-age=61", .invalid), ("x-max-age=60", .absent),
        ("x=\"max-age=60\"", .absent), ("", .absent), (",,max-age=5,,", .value(5)),
    ])
    func seconds(value: String, expected: CacheDirectives.Seconds) {
        #expect(directives(value).seconds("max-age") == expected)
    }

    @Test func severalLinesAreOneList() {
        let two = directives("no-cache", "max-age=5")
        #expect(two.has("no-cache"))
        #expect(two.seconds("max-age") == .value(5))
    }

    @Test func qualifiedDirectivesNameFields() {
        let qualified = directives("no-cache=\"Set-Cookie, X-A\", private=\"X-B\"")
        #expect(qualified.fieldNames("no-cache") == ["set-cookie", "x-a"])
        #expect(!qualified.isUnqualified("no-cache"))
        #expect(directives("no-cache=\"X-A\", no-cache").isUnqualified("no-cache"))
    }

    @Test(arguments: [
        ("a, b ,c", ["a", "b", "c"]), ("\"a,b\", c", ["\"a,b\"", "c"]), ("\"a\\\",b\",c", ["\"a\\\",b\"", "c"]),
        ("", []), (" , ", []), ("\"never closed, a", ["\"never closed, a"]),
    ])
    func membersOfLists(text: String, expected: [String]) {
        #expect(ListText.members(of: text) == expected)
    }
}

import Foundation
import LayoverCore
import LayoverEngine
import LayoverTestSupport
import Testing

@testable import LayoverAdmin

/// The page, its files and its snapshots. The behaviour of the page in a browser is tested in `Tests/Dashboard`.
struct DashboardRoutesTests {
    private let harness = AdminHarness()

    @Test func pageHasTheBannerAndTheRowsAtLoadAndNoScriptInIt() async throws {
        harness.park(1, url: "http://shop.example/</script><script>alert(1)</script>\u{202E}")
        let page = try await harness.send("GET", "/")
        #expect(page.status == 200 && page["Content-Type"] == "text/html; charset=utf-8")
        #expect(page["Cache-Control"] == "no-store")
        let policy = try #require(page["Content-Security-Policy"])
        #expect(policy.contains("default-src 'none'; script-src 'self'") && policy.contains("require-trusted-types-for 'script'"))
        #expect(page.text.contains("1 request is waiting."))
        #expect(page.text.contains("&lt;/script&gt;&lt;script&gt;alert(1)&lt;/script&gt;\\u{202e}"))
        #expect(!page.text.contains("<script>alert"))
        // All scripts are files, and the snapshot is data.
        let scripts = page.text.components(separatedBy: "<script").dropFirst().map { $0.prefix { $0 != ">" } }
        #expect(scripts.count == 3 && scripts.allSatisfy { $0.contains("src=\"/dashboard/") || $0.contains("application/json") })
        #expect(!page.text.contains("%%"))
    }

    @Test func pageExplainsAnAddressThatCannotBeRead() async throws {
        let page = try await harness.send("GET", "/?tab=all")
        #expect(page.status == 200 && page.text.contains("There is no tab &#39;all&#39;."))
        #expect(try await harness.send("GET", "/?what=1").text.contains("Unknown parameter &#39;what&#39;."))
    }

    @Test func everyFileIsServedWithItsTag() async throws {
        for (name, file) in DashboardFile.all {
            let response = try await harness.send("GET", "/dashboard/\(name)")
            #expect(response.status == 200 && response["Content-Type"] == file.type && response["Cache-Control"] == "no-cache")
            let tag = try #require(response["ETag"])
            let again = try await harness.send("GET", "/dashboard/\(name)", fields: ["If-None-Match": tag])
            #expect(again.status == 304 && again.text.isEmpty)
        }
        let page = try await harness.send("GET", "/").text
        #expect(page.contains("/dashboard/app.js"))
        // Each import of a script is one of the files.
        for (name, _) in DashboardFile.all where name.hasSuffix(".js") {
            let script = try await harness.send("GET", "/dashboard/\(name)").text
            for part in script.components(separatedBy: "from \"./").dropFirst() {
                let imported = String(part.prefix { $0 != "\"" })
                #expect(DashboardFile.all[imported] != nil, "\(name) imports \(imported)")
            }
        }
    }

    private static let words: [(String, Int)] = [
        ("", 3), ("/a", 2), ("host:SHOP.example", 2), ("host:other.example method:post", 1), ("state:attempting", 0),
        ("\"/a b\"", 0), ("method:GET /a/1", 1), ("http://shop.example", 0), ("state:held,waiting", 3),
    ]

    @Test(arguments: words)
    func wordsFilterTheList(text: String, count: Int) async throws {
        harness.park(1, url: "http://shop.example/a/1")
        harness.park(2, url: "http://shop.example/a/2")
        harness.park(3, method: "POST", url: "http://other.example/b", host: "other.example")
        let query = text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
        let response = try await harness.send("GET", "/dashboard/snapshot?q=\(query)")
        #expect(response.status == 200 && response.data.count == count, "\(response.text)")
    }

    @Test(arguments: ["host:", "host:a host:b", "state:asleep", "\"open", "incident:1"])
    func wordsThatMeanNothingAreRefusedWithASentence(text: String) async throws {
        let query = text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
        let response = try await harness.send("GET", "/dashboard/snapshot?q=\(query)")
        #expect(response.status == 400 && (response.json["detail"] as? String)?.hasSuffix(".") == true)
    }

    @Test func snapshotHasTheFilterInTheFormOfACommandForMany() async throws {
        harness.park(1)
        harness.park(2, url: "http://other.example/b", host: "other.example")
        let incident = try #require(try await harness.send("GET", "/v1/incidents").ids.first)
        let response = try await harness.send("GET", "/dashboard/snapshot?q=incident:\(incident)%20host:shop.example")
        var filter = try #require(response.json["filter"] as? [String: Any])
        #expect(filter["incident"] as? String == incident && filter["host"] as? String == "shop.example")
        // The clock of this test stands still, and what was parked in this instant is not before it.
        filter["parkedBefore"] = "2027-01-01T00:00:00Z"
        let body = try JSONSerialization.data(withJSONObject: ["filter": filter, "dryRun": true])
        let matched = try await harness.post("/v1/pending/hold", String(decoding: body, as: UTF8.self))
        #expect(matched.status == 200 && matched.json["matched"] as? Int == response.data.count, "\(matched.text)")
    }

    @Test func ticketsAreAListOfTheirOwn() async throws {
        let harness = AdminHarness(store: MemoryStore(on: MemoryDisk()))
        try await harness.accept(1)
        harness.park(2)
        #expect(try await harness.send("GET", "/dashboard/snapshot?tab=tickets").data.count == 1)
        #expect(try await harness.send("GET", "/v1/pending?ticket=true").data.count == 1)
        #expect(try await harness.send("GET", "/v1/pending?ticket=false").data.count == 1)
        #expect(try await harness.send("GET", "/v1/pending").data.count == 2)
    }

    @Test func wordsAreCounted() async throws {
        harness.park(1)
        harness.park(2)
        harness.park(3, method: "POST", url: "http://other.example/b", host: "other.example")
        let words = try await harness.send("GET", "/dashboard/words").data
        let counts = Dictionary(
            uniqueKeysWithValues: words.compactMap { word in
                (word["word"] as? String).flatMap { name in (word["count"] as? Int).map { (name, $0) } }
            })
        #expect(counts["host:shop.example"] == 2 && counts["method:POST"] == 1 && counts["state:waiting"] == 3)
    }
}

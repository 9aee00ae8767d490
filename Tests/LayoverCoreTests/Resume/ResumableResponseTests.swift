import Testing

@testable import LayoverCore

/// Which responses can go on, and what continues them (RFC 9110 sections 13.1.5, 14.4 and 15.3.7).
struct ResumableResponseTests {
    /// A response of 1 000 bytes of which 400 have come.
    static func first(_ change: (inout ResumeFacts) -> Void = { _ in }) -> ResumeFacts {
        var head = ResumeFacts(status: 200, contentLength: 1000)
        head.entityTag = "\"v1\""
        change(&head)
        return head
    }

    static let request = ResumableRequest(method: "GET", purpose: .transfer, hasRange: false, mayGoElsewhere: false)

    /// The rest of it.
    static func rest(_ change: (inout ResumeFacts) -> Void = { _ in }) -> ResumeFacts {
        var head = ResumeFacts(status: 206, contentLength: 600)
        head.entityTag = "\"v1\""
        head.contentRange = "bytes 400-999/1000"
        head.contentRangeCount = 1
        change(&head)
        return head
    }

    static func verdict(_ first: ResumeFacts = first(), on rest: ResumeFacts) throws -> ContinuationVerdict {
        var response = try #require(ResumableResponse(first, to: Self.request, done: 400))
        return response.judge(rest)
    }

    // MARK: The first response

    @Test func requestForTheRestHasItsRangeAndValidator() throws {
        let response = try #require(ResumableResponse(Self.first(), to: Self.request, done: 400))
        #expect(response.range == "bytes=400-")
        #expect(response.validator.text == "\"v1\"")
        #expect(response.progress == ResumeProgress(done: 400, total: 1000, times: 0))
    }

    @Test(arguments: [
        first { $0.status = 206 }, first { $0.status = 203 }, first { $0.contentLength = nil }, first { $0.contentLength = 0 },
        first { $0.contentLength = 399 }, first { $0.entityTag = nil }, first { $0.entityTag = "W/\"v1\"" },
        first { $0.entityTag = "v1" }, first { $0.entityTag = "\"v1\", \"v2\"" }, first { $0.acceptRanges = "None" },
        first { $0.contentType = "multipart/x-mixed-replace; boundary=x" },
    ])
    func responseThatCannotGoOn(head: ResumeFacts) { #expect(ResumableResponse(head, to: Self.request, done: 400) == nil) }

    @Test(
        arguments: [
            ("HEAD", .transfer, false, false), ("POST", .transfer, false, false), ("GET", .dial, false, false),
            ("GET", .transfer, true, false),
            ("GET", .transfer, false, true),
        ] as [(String, RequestPurpose, Bool, Bool)])
    func requestWhoseResponseCannotGoOn(method: String, purpose: RequestPurpose, hasRange: Bool, mayGoElsewhere: Bool) {
        let request = ResumableRequest(method: method, purpose: purpose, hasRange: hasRange, mayGoElsewhere: mayGoElsewhere)
        #expect(ResumableResponse(Self.first(), to: request, done: 400) == nil)
    }

    /// Only without any tag, and a second older than the response.
    @Test(arguments: [(99, true), (100, false), (101, false)] as [(Int, Bool)])
    func lastModifiedCountsIfItIsOlder(modified: Int, counts: Bool) {
        func head(_ tag: String?) -> ResumeFacts {
            Self.first {
                $0.entityTag = tag
                ($0.lastModified, $0.lastModifiedSeconds, $0.dateSeconds) = ("Thu, 01 Jan 1970 00:01:39 GMT", modified, 100)
            }
        }
        let response = ResumableResponse(head(nil), to: Self.request, done: 400)
        #expect((response != nil) == counts)
        if counts { #expect(response?.validator.text == "Thu, 01 Jan 1970 00:01:39 GMT") }
        #expect(ResumableResponse(head("W/\"v1\""), to: Self.request, done: 400) == nil, "a weak tag says that the date is none the better")
    }

    @Test func lastModifiedNeedsADate() {
        let head = Self.first { ($0.entityTag, $0.lastModified, $0.lastModifiedSeconds) = (nil, "x", 1) }
        #expect(ResumableResponse(head, to: Self.request, done: 400) == nil)
    }

    // MARK: The rest

    @Test(arguments: [
        rest(), rest { $0.contentRange = "bytes 400-999/*" }, rest { $0.contentRange = "Bytes 400-999/1000" },
        rest { $0.contentLength = nil }, rest { $0.contentType = "text/plain" },
        rest { ($0.contentRange, $0.contentLength) = ("bytes 0-999/1000", 1000) },
        rest { ($0.contentRange, $0.contentLength) = ("bytes 400-400/1000", 1) },
    ])
    func continuationIsPassedOn(head: ResumeFacts) throws { #expect(try Self.verdict(on: head) == .goOn) }

    @Test(
        arguments: [
            (rest { $0.status = 200 }, .changed), (rest { $0.entityTag = nil }, .changed), (rest { $0.entityTag = "\"v2\"" }, .changed),
            (rest { $0.entityTag = "W/\"v1\"" }, .changed), (rest { $0.contentRange = "bytes 400-998/999" }, .changed),
            (rest { $0.contentRange = "bytes 400-1000/1001" }, .changed), (rest { $0.contentRange = "bytes 400-1000/*" }, .changed),
            (rest { $0.contentEncoding = "gzip" }, .encoding), (rest { $0.contentType = "multipart/byteranges; boundary=x" }, .multipart),
            (rest { $0.contentRange = "bytes 401-999/1000" }, .range), (rest { $0.contentRange = "bytes 0-399/1000" }, .range),
            (rest { $0.contentRange = nil }, .range), (rest { $0.contentRangeCount = 2 }, .range),
            (rest { $0.contentRange = "bytes 999-400/1000" }, .range), (rest { $0.contentRange = "bytes 400-999/999" }, .range),
            (rest { $0.contentRange = "items 400-999/1000" }, .range), (rest { $0.contentRange = "bytes */1000" }, .range),
            (rest { $0.contentRange = "bytes 400-9223372036854775808/*" }, .range),
            (rest { $0.contentRange = "bytes +400-999/1000" }, .range),
            (rest { $0.contentRange = "bytes 400-9223372036854775807/*" }, .range),
            (rest { $0.contentRange = "bytes=400-999/1000" }, .range),
            (rest { $0.contentLength = 599 }, .length), (rest { $0.contentLength = 601 }, .length),
            (rest { $0.status = 304 }, .status(304)), (rest { $0.status = 302 }, .status(302)), (rest { $0.status = 404 }, .status(404)),
            (rest { $0.status = 416 }, .status(416)), (rest { $0.status = 412 }, .status(412)),
        ] as [(ResumeFacts, ContinuationRefusal)])
    func doubtfulContinuationIsRefused(head: ResumeFacts, refusal: ContinuationRefusal) throws {
        #expect(try Self.verdict(on: head) == .refuse(refusal))
    }

    @Test(arguments: [408, 425, 429, 500, 502, 503, 504, 599])
    func restIsRequestedAgainFromAnUnavailableOrigin(status: Int) throws {
        #expect(try Self.verdict(on: Self.rest { $0.status = status }) == .askAgain)
    }

    /// Content-Encoding need not be repeated, and must not differ (RFC 9110 section 15.3.7).
    @Test(arguments: [(nil, true), ("GZIP", true), ("br", false), ("identity", false)] as [(String?, Bool)])
    func continuationNeedsTheEncodingOfTheFirstResponse(encoding: String?, isTaken: Bool) throws {
        let verdict = try Self.verdict(Self.first { $0.contentEncoding = "gzip" }, on: Self.rest { $0.contentEncoding = encoding })
        #expect(verdict == (isTaken ? .goOn : .refuse(.encoding)))
    }

    @Test(
        arguments: [
            (rest { ($0.entityTag, $0.lastModified) = (nil, "d") }, true), (rest { $0.entityTag = nil }, true),
            (rest { ($0.entityTag, $0.lastModified) = (nil, "e") }, false), (rest { $0.lastModified = "d" }, false),
        ] as [(ResumeFacts, Bool)])
    func continuationNeedsTheDateOfTheFirstResponse(head: ResumeFacts, isTaken: Bool) throws {
        let first = Self.first {
            ($0.entityTag, $0.lastModified, $0.lastModifiedSeconds, $0.dateSeconds) = (nil, "d", 1, 100)
        }
        #expect(try Self.verdict(first, on: head) == (isTaken ? .goOn : .refuse(.changed)))
    }

    // MARK: Bytes

    @Test func bytesThatTheClientHasAreSkipped() throws {
        var response = try #require(ResumableResponse(Self.first(), to: Self.request, done: 400))
        let head = Self.rest { ($0.contentRange, $0.contentLength) = ("bytes 100-999/1000", 900) }
        let verdict = response.judge(head)
        #expect(verdict == .goOn)
        var skipped = [250, 100].map { response.came($0) }
        #expect(skipped == [250, 50])
        #expect(response.done == 450)
        skipped = [550].map { response.came($0) }
        #expect(skipped == [0])
        #expect(response.isComplete)
        let more = response.came(1)
        #expect(more == nil, "more than was announced")
    }

    @Test func partThatIsShorterThanTheRestIsNotTheEnd() throws {
        var response = try #require(ResumableResponse(Self.first(), to: Self.request, done: 400))
        var verdict = response.judge(Self.rest { ($0.contentRange, $0.contentLength) = ("bytes 400-499/1000", 100) })
        #expect(verdict == .goOn)
        let skipped = [100, 1].map { response.came($0) }
        #expect(skipped == [0, nil])
        #expect(!response.isComplete)
        #expect(response.range == "bytes=500-")
        verdict = response.judge(Self.rest { ($0.contentRange, $0.contentLength) = ("bytes 500-999/1000", 500) })
        #expect(verdict == .goOn)
        #expect(response.progress == ResumeProgress(done: 500, total: 1000, times: 2))
    }
}

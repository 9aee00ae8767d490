import Testing

@testable import layover

struct EventReaderTests {
    private func events(_ text: String) -> [EventReader.Event] {
        var reader = EventReader()
        return text.split(separator: "\n", omittingEmptySubsequences: false).compactMap {
            reader.take(String($0))
        }
    }

    @Test func fieldsMakeAnEvent() {
        #expect(
            events("id: r-1\nevent: request.parked\ndata: {\"a\": 1}\n\n")
                == [.init(id: "r-1", name: "request.parked", data: "{\"a\": 1}")])
    }

    @Test func commentsAndEmptyLinesMakeNone() {
        #expect(events(": alive\n\n\n: resumed\n\nid: 3\n\n").isEmpty)
    }

    @Test func eventsDoNotMix() {
        #expect(events("event: a\ndata:x\n\ndata: y\ndata: z\n\n").map(\.name) == ["a", "message"])
        #expect(events("data: y\ndata: z\n\n").map(\.data) == ["y\nz"])
    }
}

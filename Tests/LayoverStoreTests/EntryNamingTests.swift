import Foundation
import LayoverCore
import LayoverTestSupport
import Testing

@testable import LayoverStore

struct EntryNamingTests {
    @Test func eachIDHasOneShownIDThatLeadsBackToIt() throws {
        let naming = try EntryNaming.random()
        let ids = (0..<1000).map { EntryID.fixture($0) }
        let shown = ids.map { naming.shown($0) }
        #expect(Set(shown).count == ids.count)
        #expect(Set(shown).isDisjoint(with: ids))
        #expect(shown.map { naming.meant($0) } == ids)
        #expect(try EntryNaming.random().shown(ids[0]) != shown[0])
    }

    @Test func storeShowsTheSameIDsInEveryRunAndAnotherStoreOthers() async throws {
        let (folder, other) = (try TemporaryFolder(), try TemporaryFolder())
        var shown: [EntryID] = []
        for _ in 1...2 {
            let store = try SQLiteStore.open(options: .quiet(folder.url.path))
            shown.append(store.naming.shown(.fixture(1)))
            await store.close()
        }
        #expect(shown[0] == shown[1])
        let store = try SQLiteStore.open(options: .quiet(other.url.path))
        #expect(store.naming.shown(.fixture(1)) != shown[0])
        await store.close()
    }
}

/// Where the cache lies, and its limits. What does not fit is forgotten, least recently used first.
package struct CacheOptions: Sendable {
    /// The index, an SQLite database. The log files of SQLite appear beside it.
    package var path: String
    /// The folder of the bodies, one file each. Made if it is missing; 0700.
    package var folder: String
    /// Most bytes of all responses together, bodies and heads. Default: 1 GiB.
    package var byteCountMax = 1 << 30
    /// Most bytes of one body. A longer one is not kept. Default: 64 MiB.
    package var responseByteCountMax = 64 << 20
    /// How long a response is kept after it came or was confirmed, in seconds. Default: 30 days.
    package var ageMax = 30 * 24 * 3600
    /// Most responses. Default: 100 000.
    package var entryCountMax = 100_000
    /// Most responses for one URL, which differ in credentials or in what `Vary` names. Default: 32.
    package var variantCountMax = 32
    /// Most bytes of one body that wait for the disk. When it is slower than the origin, the cache gives up, because
    /// no client may wait for it. Default: 4 MiB.
    package var unwrittenByteCountMax = 4 << 20
    /// Most bytes of bodies that are not complete yet, all together. Default: 256 MiB.
    package var arrivingByteCountMax = 256 << 20
    /// Most responses that one step of eviction or of a purge removes, so that nothing waits long for it. Default: 64.
    package var stepCount = 64
    /// Most refreshes that are claimed at the same time (`limits.cacheRefreshes`). Default: 64.
    package var refreshCountMax = 64

    package init(path: String, folder: String) {
        self.path = path
        self.folder = folder
    }
}

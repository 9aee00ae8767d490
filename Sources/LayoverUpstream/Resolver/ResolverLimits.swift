/// Limits on the lookups of one upstream.
struct ResolverLimits: Sendable {
    /// Most lookups that somebody waits for and that run at the same time. Default: 8.
    var runningCountMax = 8
    /// Most threads in all, those included whose lookup nobody waits for any more. A lookup cannot be
    /// broken off (getaddrinfo(3)), and with a silent server it lasts up to half a minute (resolv.conf(5):
    /// 5 s, twice, for each of three servers), so such threads must not stand in the way of others.
    /// Default: 32.
    var threadCountMax = 32
    /// Most names that wait for their turn. Default: 1024.
    var waitingCountMax = 1024
    /// Most names whose addresses are kept. Default: 4096.
    var heldCountMax = 4096
    /// How long addresses are believed. getaddrinfo(3) does not tell their real life.
    var nameAgeMax: Duration

    init(nameAgeMax: Duration) { self.nameAgeMax = nameAgeMax }
}

import LayoverProxy
import LayoverSystem
import Testing

@testable import LayoverConfiguration
@testable import layover

/// Keys that take effect at once, and what the event loops of the proxy read of them.
@Suite struct ReloadableConfigurationTests {
    /// Keys with the effect `atOnce` of other parts: the log, the notifier, and policies, which are a part of the routes.
    private static let keysOfOthers: Set<String> = [
        "log.level", "notify.webhook", "notify.secret", "notify.command", "notify.interval", "timeouts.unattended",
    ]

    /// Settings in which every key that the rules of the proxy are made of has another value than its default.
    private static func changed() throws -> Settings {
        var settings = Settings()
        settings.proxy.identity = "other"
        settings.proxy.users = ["me": try PasswordHash(#"$2b$04$KBCwKxOzLha2MUDgW0PjXe/hE/UCO9qF89dOydoHjSwxcHev5LRn."#)]
        settings.proxy.connectPorts = [1]
        settings.proxy.allowedHosts = ["other.example"]
        settings.limits.headerBytes += 1
        settings.limits.bodyInMemory += 1
        settings.limits.bodyMax += 1
        settings.limits.connections += 1
        settings.timeouts.connect = .seconds(7)
        settings.timeouts.firstByte = .after(.seconds(7))
        settings.timeouts.idle = .seconds(7)
        settings.timeouts.deadPeer = .seconds(7)
        settings.timeouts.requestHead = .seconds(7)
        settings.timeouts.requestBody = .seconds(7)
        settings.timeouts.clientIdle = .seconds(7)
        settings.timeouts.clientStall = .seconds(7)
        settings.timeouts.tunnelIdle = .seconds(7)
        settings.timeouts.halfClosed = .seconds(7)
        settings.timeouts.unattended = .seconds(7)
        return settings
    }

    @Test func keysThatTakeEffectAtOnceAreThoseThatALoopTakesFromAReload() throws {
        let (standard, changed) = (ReloadableConfiguration(Settings()), try Self.changed())
        let read = Schema.global.filter { key in
            var settings = Settings()
            key.copy(changed, &settings)
            let configuration = ReloadableConfiguration(settings)
            return configuration.attempt != standard.attempt || configuration.ticketFirstByte != standard.ticketFirstByte
                || configuration.users != standard.users
        }
        let atOnce = Schema.global.filter { $0.effect == .atOnce }.map { $0.path.joined(separator: ".") }
        #expect(Self.keysOfOthers.isSubset(of: atOnce))
        #expect(Set(read.map { $0.path.joined(separator: ".") }) == Set(atOnce).subtracting(Self.keysOfOthers))
    }
}

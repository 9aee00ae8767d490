import NIOCore

/// How long clients may take. Each is one tick longer than configured, because deadlines count from the tick before.
struct ClientTimeouts {
    let idle: TimeAmount
    let requestHead: TimeAmount
    let requestBody: TimeAmount
    let stall: TimeAmount
    let tunnelIdle: TimeAmount
    let halfClosed: TimeAmount

    init(_ rules: ProxyRules) {
        idle = TimeAmount(rules.clientIdleTimeout) + .seconds(1)
        requestHead = TimeAmount(rules.requestHeadTimeout) + .seconds(1)
        requestBody = TimeAmount(rules.requestBodyTimeout) + .seconds(1)
        stall = TimeAmount(rules.clientStallTimeout) + .seconds(1)
        tunnelIdle = TimeAmount(rules.tunnelIdleTimeout) + .seconds(1)
        halfClosed = TimeAmount(rules.halfClosedTimeout) + .seconds(1)
    }
}

import LayoverEngine
import NIOCore

/// Where an exchange stands on its way from hold to ticket.
struct TicketTurn {
    let wish: TicketWish
    /// What stands before a path of ours, for its client.
    let base: String
    var digest: PayloadDigest?
    /// Not nil where the body may have tokens.
    var tokens: TicketTokens?
    /// Whether the body is being read to its end before anything else is done.
    var isReadFirst = false
    /// When its client has waited as long as it wants.
    var timer: Scheduled<Void>?
    /// When it stops waiting for the outcome of an equal request.
    var joinTimer: Scheduled<Void>?
    /// Whether its time came before the request was complete.
    var isDue = false
    /// Whether the engine was asked.
    var isAsked = false
    /// Whether it has said something that stands.
    var isHeard = false
    /// Whether the proxy ends, and this is the last thing that is done for its client.
    var isCutOff = false
    var key = KeyStanding.unasked
}

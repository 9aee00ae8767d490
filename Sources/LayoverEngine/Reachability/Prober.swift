package import LayoverCore

/// Checks on purpose whether the network leads anywhere.
package protocol Prober: Sendable {
    /// Makes one check. Takes as long as its own time-outs allow, never longer.
    func probe() async -> ProbeResult
}

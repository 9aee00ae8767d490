/// Knows which sockets of this machine listen.
package protocol ListenerTable: Sendable {
    /// The TCP sockets that listen at a port, whatever their address, each by a number that no other socket gets. Does not block.
    ///
    /// - Returns: Nil if the system does not tell.
    func listeners(on port: Int) -> Set<UInt64>?
}

package import LayoverEngine
package import LayoverHTTP

/// What all workers of one upstream have in common.
package struct UpstreamOptions: Sendable {
    /// PEM file of certificates that are trusted besides the system's. Default: nil.
    package var caFile: String?
    /// Asked before each connect.
    package var addressGuard: any AddressGuard
    /// Most idle connections that one worker keeps. Default: 256.
    package var idleConnectionCountMax = 256
    /// Idle connections that are older are closed. Servers commonly give up after 60 to 75 s, and to
    /// be first avoids the race. Default: 55 s.
    package var idleConnectionAgeMax: Duration = .seconds(55)
    /// Idle connections to a server of this machine are closed after so long when the client that used them last has left: such a
    /// server may serve one connection at a time. Default: 3 s.
    package var idleWithoutClientMax: Duration = .seconds(3)
    /// How long a connection of HTTP/2 that has carried a body is read after it was closed for sending, if the origin does not close it.
    /// Default: 60 s.
    package var lingerMax: Duration = .seconds(60)
    /// Most such connections of one worker; the oldest is closed for a further one. Default: 64.
    package var lingeringCountMax = 64
    /// How long a resolved name is believed. Default: 10 s.
    package var nameAgeMax: Duration = .seconds(10)
    /// Size of the buffer that libcurl receives into, per running transfer. Default: 32 KiB.
    package var receiveBufferByteCount = 32 << 10
    /// Size of the buffer that libcurl sends bodies from, per running upload. Default: 64 KiB.
    package var sendBufferByteCount = 64 << 10
    /// Bytes of a response that may wait on the loop's side before its transfer is paused.
    /// Default: 512 KiB.
    package var bytesOutstandingMax = 512 << 10
    /// How long a body waits for `100 (Continue)` where the client expects one. Default: 1 s.
    package var continueWaitMax: Duration = .seconds(1)
    /// How long an origin that has answered completely may take nothing of the rest of the request, where `timeouts.idle` does not say.
    /// Default: 5 minutes.
    package var restStallMax: Duration = .seconds(300)
    /// How long an origin that has answered completely may take nothing of the rest of the request before the withheld end of a success
    /// is passed on all the same: a client without a proxy would have it. Default: 30 s.
    package var endWithheldMax: Duration = .seconds(30)
    /// How long a client whose request has all been sent so far may pause before it gets the withheld end: it may wait for that.
    /// Default: 250 ms.
    package var requestPauseMax: Duration = .milliseconds(250)
    /// Most easy handles that one worker keeps for later. Default: 256.
    package var spareTransferCountMax = 256
    /// Called with each SSL_CTX of libcurl before its handshake, on the worker's thread. Nil: the SSL_CTX is not changed. Default: nil.
    package var prepareTLS: (@Sendable (OpaquePointer) -> Void)?
    /// Takes decrypted bytes from an SSL of libcurl that has them, without waiting, on the worker's thread; returns how many. Nil: bytes
    /// that have come when a send fails are lost. Default: nil.
    package var readTLS: (@Sendable (OpaquePointer, UnsafeMutableRawBufferPointer) -> Int)?
    /// Whether the peer has said by close_notify that it sends no more, of an SSL of libcurl. Nil: each end is taken for a proper one.
    /// Default: nil.
    package var hasCloseNotify: (@Sendable (OpaquePointer) -> Bool)?
    /// Limits on response heads and trailers. libcurl itself takes no head over 300 KB and no line of one over 100 KB. Default: as of
    /// `FramingLimits`.
    package var responseLimits = FramingLimits()

    package init(addressGuard: any AddressGuard) {
        self.addressGuard = addressGuard
    }
}

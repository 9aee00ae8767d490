import NIOCore
import NIOHTTP2

/// Reports the streams of a connection to its session and to the handler that announces the end of the connection.
struct HTTP2StreamEvents: NIOHTTP2StreamDelegate {
    let session: NIOLoopBound<HTTP2Session>
    let management: NIOHTTP2ServerConnectionManagementHandler.HTTP2StreamDelegate

    func streamCreated(_ id: HTTP2StreamID, channel: any Channel) {
        session.value.streamOpened(id)
        management.streamCreated(id, channel: channel)
    }

    func streamClosed(_ id: HTTP2StreamID, channel: any Channel) {
        session.value.streamClosed()
        management.streamClosed(id, channel: channel)
    }
}

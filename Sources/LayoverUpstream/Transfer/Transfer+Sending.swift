import CCurl
import LayoverEngine
import NIOCore
import Synchronization

extension Transfer {
    /// Opens the body at its start; also before libcurl sends it again, when an unknown part of it may
    /// lie in libcurl's buffer.
    func openReader() {
        guard let request = attempt?.request, let body = request.body else { return }
        sending.reader?.close()
        sending.isPaused = false
        sending.wantsResume = false
        sending.awaitsContinue = request.expectsContinue
        attempt?.bodyBytesSent.store(0, ordering: .relaxed)
        attempt?.isBodyHandedOver.store(false, ordering: .relaxed)
        sending.continueAt = nil
        let mailbox = loop.mailbox
        let (slot, serial) = (slot, serial)
        sending.reader = FramedBodyReader(body, framing: request.framing, framesChunks: !request.offersHTTP2) {
            _ = mailbox.post(.resumeSending(slot: slot, serial: serial))
        }
    }

    /// READFUNCTION: the next bytes of the body, chunked ones with their framing.
    func readBody(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        guard let reader = sending.reader else { return Int(CURL_READFUNC_ABORT) }
        sentPiece()
        if reader.isComplete || sending.isStopped { return 0 }
        if sending.awaitsContinue { return waitForContinue() }
        switch sending.reader?.read(into: buffer) ?? .brokenOff {
        case .bytes(let count):
            sending.lastAt = loop.now
            noteHandedOver(count)
            return count
        case .wait:
            waitForBody()
            return Int(CURL_READFUNC_PAUSE)
        case .end:
            attempt?.isBodyHandedOver.store(true, ordering: .relaxed)
            return 0
        case .brokenOff:
            // The second time it may only be that the start was not kept.
            abortCause = sending.count > 1 ? .secondSending : .bodyBrokenOff
            return Int(CURL_READFUNC_ABORT)
        }
    }

    /// For people who are shown an attempt under way.
    private func noteHandedOver(_ count: Int) {
        attempt?.bodyBytesSent.add(Int64(count), ordering: .relaxed)
        if sending.reader?.isComplete == true { attempt?.isBodyHandedOver.store(true, ordering: .relaxed) }
    }

    /// RFC 9110 section 10.1.1: a client that waits for a 100 must not wait for ever.
    private func waitForContinue() -> Int {
        sending.isPaused = true
        if sending.continueAt == nil {
            sending.continueAt = loop.now + loop.options.continueWaitMax.nanoseconds
            loop.noteDeadline(deadline)
        }
        return Int(CURL_READFUNC_PAUSE)
    }

    /// Ends the wait for 100 (Continue): a 100 or the final head has come, or `continueWaitMax` has passed. A paused sending goes on at the
    /// end of the turn, even if the body is not sent any more: libcurl 7.88.1 never ends a paused transfer.
    func stopAwaitingContinue() {
        sending.awaitsContinue = false
        sending.continueAt = nil
        guard sending.isPaused else { return }
        sending.wantsResume = true
        loop.touch(self)
    }

    private func waitForBody() {
        sending.isPaused = true
        if receiving.isWithheld { loop.noteDeadline(deadline) }
        guard let attempt, attempt.request.expectsContinue, !sending.hasWantedBody else { return }
        sending.hasWantedBody = true
        loop.outbox.add(.bodyWanted, of: attempt)
    }

    /// Goes on sending after a pause: the body may have more.
    func resumeSending() {
        guard sending.isPaused, !sending.awaitsContinue, attempt != nil else { return }
        sending.isPaused = false
        sending.wantsResume = false
        sending.lastAt = loop.now
        curl_easy_pause(easy, receiving.isPaused ? CURLPAUSE_RECV : CURLPAUSE_CONT)
        loop.noteDeadline(deadline)
    }
}

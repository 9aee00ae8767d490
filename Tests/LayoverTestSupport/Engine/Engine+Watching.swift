package import LayoverEngine

extension Engine {
    /// The events from now on, and the number of this watcher.
    package func watchEvents() -> (watcher: Int, events: AsyncStream<EngineEvent>) {
        let watcher = watch()
        return (watcher, events(of: watcher, after: lastEventNumber))
    }

    /// The events of a watcher, until its watch ends or it has lost events.
    private nonisolated func events(of watcher: Int, after number: UInt64) -> AsyncStream<EngineEvent> {
        let (stream, continuation) = AsyncStream.makeStream(of: EngineEvent.self)
        let reading = Task {
            var position = number
            while case .events(let events) = await nextEvents(of: watcher, after: position) {
                for event in events {
                    continuation.yield(event)
                    position = event.number
                }
            }
            continuation.finish()
        }
        continuation.onTermination = { _ in reading.cancel() }
        return stream
    }
}

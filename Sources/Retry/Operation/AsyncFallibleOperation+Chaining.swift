extension AsyncFallibleOperation {
    /// Changes what comes out.
    public func map<New>(
        _ transform: @escaping @Sendable (Output) -> New
    ) -> AsyncFallibleOperation<Input, New, Failure> {
        AsyncFallibleOperation<Input, New, Failure> { input throws(Failure) in
            transform(try await self(input))
        }
    }

    /// Changes the error.
    public func mapError<New: Error>(
        _ transform: @escaping @Sendable (Failure) -> New
    ) -> AsyncFallibleOperation<Input, Output, New> {
        AsyncFallibleOperation<Input, Output, New> { input throws(New) in
            do throws(Failure) {
                return try await self(input)
            } catch {
                throw transform(error)
            }
        }
    }

    /// Feeds what comes out to another operation. When this one fails the other does not run.
    public func flatMap<New>(
        _ next: AsyncFallibleOperation<Output, New, Failure>
    ) -> AsyncFallibleOperation<Input, New, Failure> {
        AsyncFallibleOperation<Input, New, Failure> { input throws(Failure) in
            try await next(try await self(input))
        }
    }

    /// Feeds what comes out to another function that can fail.
    public func flatMap<New>(
        _ next: @escaping @Sendable (Output) async throws(Failure) -> New
    ) -> AsyncFallibleOperation<Input, New, Failure> {
        flatMap(AsyncFallibleOperation<Output, New, Failure>(next))
    }

    /// Ends in success with a stand-in value where it would fail.
    public func recovering(
        _ standIn: @escaping @Sendable (Failure) -> Output
    ) -> AsyncFallibleOperation<Input, Output, Never> {
        AsyncFallibleOperation<Input, Output, Never> { input in
            do throws(Failure) {
                return try await self(input)
            } catch {
                return standIn(error)
            }
        }
    }
}

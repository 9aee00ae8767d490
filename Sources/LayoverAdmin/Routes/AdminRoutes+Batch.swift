import Hummingbird
import HummingbirdCore

/// Several requests, one response.
extension AdminRoutes {
    func addBatchRoutes(to router: Router<AdminContext>) {
        router.post("/v1/batch") { request, context in
            try refuseParameters(request)
            guard let send = sources.send else { throw AdminProblem.noProxy }
            let input = RequestInput(byteCountMax: BatchRequest.byteCountMax)
            guard let batch = try await input.document(BatchRequest.self, of: request) else {
                throw AdminProblem.malformedBody("Send 'requests'.")
            }
            context.audit.write { $0.matched = batch.requests.count }
            let outcomes = await outcomes(of: batch, send)
            return try json(BatchDocument(data: outcomes.map { BatchDocument.Item($0) }))
        }
    }

    /// In the order of the requests. They begin in that order, as many at once as the caller wants.
    private func outcomes(
        of batch: BatchRequest, _ send: @escaping @Sendable (BatchItem) async -> BatchOutcome
    ) async -> [BatchOutcome] {
        await withTaskGroup(of: (Int, BatchOutcome).self) { group in
            var outcomes: [Int: BatchOutcome] = [:]
            for (index, item) in batch.requests.enumerated() {
                if index >= batch.concurrency, let (ended, outcome) = await group.next() { outcomes[ended] = outcome }
                group.addTask { (index, await send(item)) }
            }
            for await (index, outcome) in group { outcomes[index] = outcome }
            return batch.requests.indices.compactMap { outcomes[$0] }
        }
    }
}

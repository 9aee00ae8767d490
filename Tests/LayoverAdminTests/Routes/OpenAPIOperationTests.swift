import LayoverCore
import LayoverEngine
import Testing

@testable import LayoverAdmin

/// The parts of `openapi.yaml` that every operation must have.
struct OpenAPIOperationTests {
    private static let text = String(decoding: PackageResources.openapi_yaml, as: UTF8.self)
    private static let operations = DescribedOperation.all(in: text)

    private static func harness(_ options: AdminOptions = AdminOptions()) -> AdminHarness {
        AdminHarness(
            options: options,
            sources: { sources in
                sources.drain = {}
                sources.reload = { ReloadReport(at: Timestamp(nanoseconds: 0)) }
                sources.configuration = { [] }
            })
    }

    @Test func everyRouteHasAnOperationWithAnIDOfItsOwn() async throws {
        let harness = Self.harness()
        let routes = AdminRoutes(options: AdminOptions(), sources: harness.sources).router().routes
        var described: [String: String] = [:]
        for operation in Self.operations {
            described["\(operation.method) \(operation.path)"] = operation["operationId"]
        }
        for route in routes {
            let name = "\(route.method.rawValue) \(route.path.description)"
            let id = described[name]
            #expect(id?.isEmpty == false, "\(name) has no operationId")
            #expect(id?.allSatisfy { $0.isASCII && $0.isLetter } == true, "\(name)")
        }
        #expect(Set(described.values).count == routes.count)
        #expect(Self.operations.count == routes.count)
    }

    @Test func everyErrorIsTheOneProblem() {
        for operation in Self.operations {
            let name = "\(operation.method) \(operation.path)"
            #expect(operation.responses["default"] != nil, "\(name) describes no errors")
            for (status, text) in operation.responses where !status.hasPrefix("2") && !status.hasPrefix("3") {
                // Where a person logs in, the error is the page again.
                if name == "POST /login", status != "default" { continue }
                #expect(text == "{ $ref: \"#/components/responses/Problem\" }", "\(name) \(status)")
            }
        }
        let media = Self.text.split(separator: "\n").filter { $0.contains("application/problem+json") }
        #expect(
            Set(media.map { $0.drop { $0 == " " } }) == ["application/problem+json: { schema: { $ref: \"#/components/schemas/Problem\" } }"]
        )
    }

    @Test func aProblemHasTheDescribedMembers() async throws {
        let problem = try await Self.harness().send("GET", "/v1/pending/00000000000000000000000000000009")
        #expect(problem["Content-Type"] == "application/problem+json")
        #expect(Set(problem.json.keys) == ["type", "title", "status", "detail", "instance", "kind"])
    }

    /// A body that takes more members than are described would accept a misspelt one.
    @Test func bodiesOfRequestsTakeNoOtherMembers() {
        let lines = Self.text.split(separator: "\n").map(String.init)
        var isRequest = false
        var depth = 0
        for (index, line) in lines.enumerated() {
            let indent = line.prefix { $0 == " " }.count
            if isRequest, indent <= depth { isRequest = false }
            if line.hasSuffix("requestBody:") || line == "  requestBodies:" { (isRequest, depth) = (true, indent) }
            guard isRequest, line.hasSuffix("type: object") else { continue }
            let own = lines[index...].prefix { $0.prefix { $0 == " " }.count >= indent }
            #expect(own.contains { $0.contains("additionalProperties: ") }, "line \(index + 1)")
        }
    }

    @Test func securityIsThatOfThisProcess() async throws {
        let both = "\nsecurity:\n  - {}\n  - token: []\n"
        #expect(Self.text.contains(both))
        #expect(try await Self.harness().send("GET", "/openapi.yaml").text.contains(both))
        let text = try await Self.harness(.with { $0.token = "s3cret" }).send("GET", "/openapi.yaml", fields: ["Authorization": "Bearer s3cret"]).text
        #expect(text.contains("\nsecurity:\n  - token: []\n"))
        let open = DescribedOperation.all(in: text).filter { $0["security"] == "[{}]" }.map(\.path)
        #expect(Set(open) == ["/livez", "/readyz", "/login", "/logout", "/proxy.pac"])
    }
}

import ArgumentParser
import Foundation
import LayoverAdmin

/// Where the proxy listens, for programs that are to use it.
struct ProxyURLOptions: ParsableArguments {
    /// Where a proxy with no configuration listens.
    static let standard = "http://127.0.0.1:8080"

    @OptionGroup var connection: ConnectionOptions

    @Option(
        name: .customLong("proxy-url"),
        help:
            "URL of the proxy. Default: LAYOVER_PROXY_URL, the running proxy's address, or \(Self.standard)."
    )
    var proxyURL: String?

    /// Works without a running proxy too: it may be started after the variables are set.
    func resolved(environment: [String: String]) async throws -> String {
        if let url = proxyURL ?? environment.nonempty("LAYOVER_PROXY_URL") { return url }
        var client = try connection.client(environment: environment)
        client.connectMax = .seconds(1)
        client.silenceMax = .seconds(2)
        do {
            let status = try await client.send(AdminCall("/v1/status")).decoded(StatusDocument.self)
            if let url = status.proxy.first(where: { $0.hasPrefix("http") }) { return url }
            StandardError.write("warning: the proxy does not listen on TCP; assuming \(Self.standard)")
        } catch {
            StandardError.write("warning: \(error.message); assuming \(Self.standard)")
        }
        return Self.standard
    }
}

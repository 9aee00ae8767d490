/// The version of Layover. Nowhere else is it written down.
package enum LayoverVersion {
    package static let current = "0.1.0"
}

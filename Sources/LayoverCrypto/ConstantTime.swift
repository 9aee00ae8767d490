import COpenSSL

/// Comparing secrets with guesses.
package enum ConstantTime {
    /// Takes as long for a guess that is almost right as for one that is all wrong (CRYPTO_memcmp(3)); the time depends on
    /// the length of the guess alone.
    package static func isEqual(_ guess: [UInt8], _ secret: [UInt8]) -> Bool {
        let hasLength = guess.count == secret.count
        let difference = CRYPTO_memcmp(guess, hasLength ? secret : guess, guess.count)
        return difference == 0 && hasLength
    }
}

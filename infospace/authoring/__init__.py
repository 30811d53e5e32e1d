"""What a primitive may use besides `infospace` itself: everything that our own primitives are made of."""

"""What `fourscore publish` writes: a site of any number of archives."""
